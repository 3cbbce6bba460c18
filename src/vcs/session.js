/** The session for a caller with a signal of its own. */
export function sessionWith(session, signal) {
    return { ...session, signal: session.signal ? AbortSignal.any([session.signal, signal]) : signal };
}
/** The repository as a message may name it. */
export const nameOf = ({ location, path }) => (path === '' ? location.url : `${location.url} (${path})`);
/** What to do where there is no repository: of one on the server's disk a wrong path is the usual reason. */
export function remedyOfAbsence({ location }, program) {
    if (location.scheme !== 'file')
        return undefined;
    const create = program === 'svn' ? 'svnadmin create' : 'git init --bare';
    return `give the path of a repository on the disk of the server, or make one with \`${create} PATH\``;
}
