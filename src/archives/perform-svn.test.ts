import { svnFiles } from '../../test/repositories/svn.ts'
import { testPerforming } from './perform.suite.ts'

testPerforming('svn', svnFiles)
