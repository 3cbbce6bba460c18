import { cacheFolder } from './cache.js';
import { InvalidRepository } from './errors.js';
import { GitRepository } from './git.js';
import { checkBranch, insidePath, locate } from './location.js';
import { SvnRepository } from './svn.js';
const PATH = '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin';
/** Opens a repository for reading and writing. Nothing is asked or written before the first use. */
export function openRepository(options) {
    const { type, branch, credentials } = options;
    const location = locate(type, options.url, options.schemes);
    const path = insidePath(options.path ?? '');
    if (credentials && /[\p{Cc}]/u.test(credentials.username + credentials.password)) {
        throw new InvalidRepository('name or password hold control characters');
    }
    const facts = [location.url, type === 'svn' ? path : '', credentials?.username ?? ''];
    const session = {
        location,
        path,
        credentials,
        folder: cacheFolder(options.cacheDir, type, facts),
        // The programs' words and names are read, so their language is not the user's choice.
        environment: { PATH, ...options.environment, LC_ALL: 'C.UTF-8', TZ: 'UTC' },
        answerMs: (options.answerSeconds ?? 60) * 1000,
        transferMs: (options.transferSeconds ?? 3600) * 1000,
        keepWorkspaces: options.keepWorkspaces ?? 4,
        identity: options.identity,
        signal: options.signal,
    };
    if (type === 'svn')
        return new SvnRepository(session);
    return new GitRepository(session, branch === undefined ? {} : { branch: checkBranch(branch) });
}
