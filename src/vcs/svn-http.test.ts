import { startApache } from '../../test/repositories/apache.ts'
import { testRepository } from './repository.suite.ts'

testRepository('svn by http://, with a password', () => startApache('svn'))
