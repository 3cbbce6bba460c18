import { gitFiles } from '../../test/repositories/git.ts'
import { testPerforming } from './perform.suite.ts'

testPerforming('git', gitFiles)
