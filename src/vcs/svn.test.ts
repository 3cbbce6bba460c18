import { svnFiles } from '../../test/repositories/svn.ts'
import { testRepository } from './repository.suite.ts'

testRepository('svn by file://', svnFiles)
