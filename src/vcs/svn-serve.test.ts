import { svnServe } from '../../test/repositories/svn.ts'
import { testRepository } from './repository.suite.ts'

testRepository('svn by svn://, with a password', svnServe)
