/**
 * Something about a repository that the caller can act on. `code` is stable, `detail` is the first error line of the
 * tool that was asked, `remedy` says what a person can do.
 */
export class RepositoryError extends Error {
    /** Whether the same call may succeed later without anybody changing anything. */
    isRetryable = false;
    detail;
    remedy;
    constructor(message, { detail, remedy, cause } = {}) {
        super(detail ? `${message}: ${detail}` : message, cause === undefined ? {} : { cause });
        this.detail = detail;
        this.remedy = remedy;
    }
}
/** The URL, path, branch or another part of the description of the repository cannot be used. */
export class InvalidRepository extends RepositoryError {
    code = 'invalid_repository';
}
/** No answer, or not one of a repository: it is away, moved, or the URL is wrong. */
export class RepositoryUnreachable extends RepositoryError {
    code = 'repository_unreachable';
    isRetryable = true;
}
/** The repository refuses the name, the password, or what they may do. */
export class AuthenticationFailed extends RepositoryError {
    code = 'authentication_failed';
}
export class RevisionNotFound extends RepositoryError {
    code = 'revision_not_found';
}
export class PathNotFound extends RepositoryError {
    code = 'path_not_found';
}
/** The repository has branches, and the one asked for is not among them. */
export class BranchNotFound extends RepositoryError {
    code = 'branch_not_found';
}
/** Others have changed the same paths since the base of the commit. Nothing was written; begin again from a newer base. */
export class OutOfDate extends RepositoryError {
    code = 'out_of_date';
    isRetryable = true;
}
/** A hook or a rule of the repository refused the commit. */
export class CommitRefused extends RepositoryError {
    code = 'commit_refused';
}
/** What was to be committed cannot be, whatever the repository holds. */
export class InvalidChange extends RepositoryError {
    code = 'invalid_change';
}
/**
 * A revision that was known is not part of the history any more: a forced push, a merge the wrong way round, a repository
 * restored or replaced. Numbers after it would name other revisions than before, so none are given.
 */
export class HistoryRewritten extends RepositoryError {
    code = 'history_rewritten';
    known;
    found;
    /** Another repository stands at the place: the history that was known may come back with the repository. */
    isOtherRepository;
    constructor(known, found, where, { isOtherRepository = false } = {}) {
        const message = isOtherRepository
            ? `another repository stands at ${where}: ${known} was known, and ${found} was found`
            : `the history of ${where} was rewritten: ${known} was known, and ${found} does not continue it`;
        super(message, {
            remedy: 'look whether that was intended, then register the archive again from the revision where it is to begin',
        });
        this.known = known;
        this.found = found;
        this.isOtherRepository = isOtherRepository;
    }
}
/** A file is larger than the caller wants to read. */
export class FileTooLarge extends RepositoryError {
    code = 'file_too_large';
}
/** A program that Millrace uses is not installed, or is too old. */
export class ToolMissing extends RepositoryError {
    code = 'tool_missing';
}
/** A program did not end in its time and was killed with all it had started. */
export class ToolTimedOut extends RepositoryError {
    code = 'timeout';
    isRetryable = true;
}
/** A program failed in a way that has no class of its own. */
export class ToolFailed extends RepositoryError {
    code = 'repository_failed';
    isRetryable = true;
    exitCode;
    /** What it wrote to its error output, at most the last 64 kB. */
    stderr;
    constructor(program, exitCode, stderr) {
        const how = exitCode === null ? 'was killed' : `ended with ${exitCode}`;
        super(`${program} ${how}`, { detail: firstLine(stderr) });
        this.exitCode = exitCode;
        this.stderr = stderr;
    }
}
/** The first line that tells what is wrong, without the name of the program. Warnings come after errors. */
export function firstLine(stderr) {
    const lines = stderr
        .split('\n')
        .map((line) => line.replace(/^(svn|svnmucc|git|fatal|error|remote): */i, '').trim())
        .filter((line) => line !== '');
    return (lines.find((line) => !/^(warning|hint)\b/i.test(line)) ?? lines[0] ?? '').slice(0, 500);
}
