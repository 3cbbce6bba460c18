import { InvalidChange, InvalidRepository, PathNotFound } from './errors.js';
// Those that start a program of the user's (`svn+ssh`, `ssh`) are used only when they are allowed by name.
const SCHEMES = {
    svn: { usual: ['file', 'svn', 'http', 'https'], possible: ['svn+ssh'] },
    git: { usual: ['file', 'git', 'http', 'https'], possible: ['ssh'] },
};
const CONTROL = /[\p{Cc}\u2028\u2029]/u;
const AUTHORITY = /^(?:(?<user>[A-Za-z0-9_][\w.+~-]*)(?<password>:.*)?@)?(?<host>[A-Za-z0-9[][\w.:[\]-]*)$/;
/**
 * Checks what a user says about the place of a repository. What comes back begins with a scheme that is allowed or with
 * a slash, so it can be no option of a program, names no program to start, and holds no password.
 */
export function locate(type, given, schemes) {
    if (CONTROL.test(given))
        throw new InvalidRepository('the URL holds control characters');
    if (type === 'git' && given.startsWith('/'))
        return locate(type, `file://${encodePath(given)}`, schemes);
    const match = /^(?<scheme>[a-z][a-z0-9+.-]*):\/\/(?<authority>[^/?#]*)(?<path>\/.*)?$/.exec(given);
    if (!match?.groups) {
        const example = type === 'git' ? 'https://host/repository.git or /path/of/it' : 'file:///path or https://host/path';
        throw new InvalidRepository(`"${withoutPassword(given)}" is no absolute URL such as ${example}`);
    }
    const { scheme = '', authority = '', path = '' } = match.groups;
    checkScheme(type, scheme, schemes);
    checkAuthority(scheme, authority);
    const { usual, possible } = SCHEMES[type];
    if (![...usual, ...possible].some((known) => known === scheme)) {
        throw new InvalidRepository(`the scheme "${scheme}" is not one of ${type}`);
    }
    if (scheme === 'file') {
        const local = decode(path).replace(/\/+$/, '');
        if (local === '')
            throw new InvalidRepository('the root of the file system is no repository');
        return { scheme, url: type === 'git' ? local : `file://${encodePath(local)}` };
    }
    if (type === 'git')
        return { scheme, url: given };
    return { scheme, url: `${scheme}://${authority}${encodePath(decode(path).replace(/\/+$/, ''))}` };
}
function checkScheme(type, scheme, schemes) {
    const allowed = schemes ?? SCHEMES[type].usual;
    if (allowed.includes(scheme))
        return;
    throw new InvalidRepository(`URLs that begin with ${scheme}:// are not allowed; allowed are ${allowed.join(', ')}`);
}
function checkAuthority(scheme, authority) {
    if (scheme === 'file') {
        if (authority === '' || authority === 'localhost')
            return;
        throw new InvalidRepository('a file URL has three slashes: file:///path');
    }
    const parts = AUTHORITY.exec(authority)?.groups;
    if (!parts)
        throw new InvalidRepository('the URL has no usable host name');
    if (parts['password'] === undefined)
        return;
    throw new InvalidRepository('the URL holds a password', { remedy: 'give name and password as credentials' });
}
const withoutPassword = (url) => url.replace(/(\/\/[^/@:]*):[^/@]*@/, '$1:…@').slice(0, 200);
function decode(path) {
    return path
        .split('/')
        .map((part) => {
        try {
            return decodeURIComponent(part);
        }
        catch {
            return part; // a percent sign that encodes nothing stands for itself
        }
    })
        .join('/');
}
/** A path as part of a URL: every character of a name that could mean something there, `@` and `%` too, is encoded. */
export function encodePath(path) {
    return path
        .split('/')
        .map((part) => encodeURIComponent(part))
        .join('/');
}
export const decodePath = decode;
/** A path inside the repository without slashes around it; '' is the top. */
export function insidePath(path) {
    const trimmed = path.replace(/^\/+|\/+$/g, '');
    const isInside = trimmed === '' || trimmed.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
    if (!isInside || trimmed.includes('\0'))
        throw new PathNotFound(`"${path}" is no path inside a repository`);
    return trimmed;
}
/** A path that may be written: not the top, and no name that one of the programs keeps for itself. */
export function writablePath(type, path) {
    const inside = insidePath(path);
    if (inside === '')
        throw new InvalidChange('the top of the repository cannot be changed itself');
    if (inside.split('/').some((part) => /^\.(git|svn)$/i.test(part))) {
        throw new InvalidChange(`"${path}" holds a name that git or Subversion keeps for itself`);
    }
    if (type === 'svn' && CONTROL.test(inside))
        throw new InvalidChange(`"${path}" holds control characters`);
    return inside;
}
/** The path below a folder, or undefined when it lies elsewhere. */
export function below(folder, path) {
    if (folder === '')
        return path;
    if (path === folder)
        return '';
    return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : undefined;
}
export const joinPath = (...parts) => parts.filter((part) => part !== '').join('/');
/** Throws unless git itself would take the name for a branch. */
export function checkBranch(name) {
    const isGood = name.length < 250 &&
        !/[\p{Cc} ~^:?*[\\]|\.\.|@\{|\/\/|^[-/.]|[/.]$|\.lock(\/|$)|\/\./u.test(name) &&
        name !== '' &&
        name !== '@';
    if (!isGood)
        throw new InvalidRepository(`"${name}" cannot be the name of a branch`);
    return name;
}
