import { gitFiles } from '../../test/repositories/git.ts'
import { testRepository } from './repository.suite.ts'

testRepository('git by its path', gitFiles)
