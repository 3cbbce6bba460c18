export { AuthenticationFailed, BranchNotFound, CommitRefused, FileTooLarge, HistoryRewritten, InvalidChange, InvalidRepository, OutOfDate, PathNotFound, RepositoryError, RepositoryUnreachable, RevisionNotFound, ToolFailed, ToolMissing, ToolTimedOut, } from './errors.js';
export { openRepository } from './open.js';
export { collect, } from './repository.js';
