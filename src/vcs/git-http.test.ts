import { startApache } from '../../test/repositories/apache.ts'
import { testRepository } from './repository.suite.ts'

testRepository('git by http://, with a password', () => startApache('git'))
