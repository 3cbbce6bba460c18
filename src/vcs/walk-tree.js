var __addDisposableResource = (this && this.__addDisposableResource) || function (env, value, async) {
    if (value !== null && value !== void 0) {
        if (typeof value !== "object" && typeof value !== "function") throw new TypeError("Object expected.");
        var dispose, inner;
        if (async) {
            if (!Symbol.asyncDispose) throw new TypeError("Symbol.asyncDispose is not defined.");
            dispose = value[Symbol.asyncDispose];
        }
        if (dispose === void 0) {
            if (!Symbol.dispose) throw new TypeError("Symbol.dispose is not defined.");
            dispose = value[Symbol.dispose];
            if (async) inner = dispose;
        }
        if (typeof dispose !== "function") throw new TypeError("Object not disposable.");
        if (inner) dispose = function() { try { inner.call(this); } catch (e) { return Promise.reject(e); } };
        env.stack.push({ value: value, dispose: dispose, async: async });
    }
    else if (async) {
        env.stack.push({ async: true });
    }
    return value;
};
var __disposeResources = (this && this.__disposeResources) || (function (SuppressedError) {
    return function (env) {
        function fail(e) {
            env.error = env.hasError ? new SuppressedError(e, env.error, "An error was suppressed during disposal.") : e;
            env.hasError = true;
        }
        var r, s = 0;
        function next() {
            while (r = env.stack.pop()) {
                try {
                    if (!r.async && s === 1) return s = 0, env.stack.push(r), Promise.resolve().then(next);
                    if (r.dispose) {
                        var result = r.dispose.call(r.value);
                        if (r.async) return s |= 2, Promise.resolve(result).then(next, function(e) { fail(e); return next(); });
                    }
                    else s |= 1;
                }
                catch (e) {
                    fail(e);
                }
            }
            if (s === 1) return env.hasError ? Promise.reject(env.error) : Promise.resolve();
            if (env.hasError) throw env.error;
        }
        return next();
    };
})(typeof SuppressedError === "function" ? SuppressedError : function (error, suppressed, message) {
    var e = new Error(message);
    return e.name = "SuppressedError", e.error = error, e.suppressed = suppressed, e;
});
// The server's own look at a tree that a task may write, perhaps at this moment. Each folder is opened by its parent's handle,
// and each name is looked up in an open folder, so that a link that a task puts in the place of a folder leads nowhere.
//
// Names are byte strings ("latin1" of Node): a name need not be UTF-8, and must not be mistaken for another.
import { closeSync, constants, createWriteStream, lstatSync, openSync, readdirSync, readlinkSync } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { InvalidChange } from './errors.js';
const MOST_ENTRIES = 2_000_000;
const MOST_DEPTH = 256;
const MOST_PATH_BYTES = 3_000; // git and Subversion give up near 4,000
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const CONTENT = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Everything in the tree. */
export async function walkTree(root, { base = '', except = [], isWhole = false } = {}) {
    const env_1 = { stack: [], error: void 0, hasError: false };
    try {
        const found = new Map();
        const administrations = [];
        const breathe = breather();
        const look = (folder, name) => {
            const path = joinName(folder.path, name);
            if (folder.path === '' && except.includes(name))
                return undefined;
            if (!isWhole && isAdministration(name))
                return void administrations.push(path);
            const entry = lookAt(folder, name);
            if (entry === undefined)
                return undefined;
            if (found.size >= MOST_ENTRIES)
                throw new InvalidChange(`the workspace holds more than ${MOST_ENTRIES} files`);
            found.set(path, entry);
            return entry.kind === 'folder' ? name : undefined;
        };
        const walk = async (folder, depth) => {
            const inner = [];
            for (const name of readdirSync(bytesOf(`${folder.here}/.`), { encoding: 'latin1' })) {
                checkName(joinName(folder.path, name), depth);
                const below = look(folder, name);
                if (below !== undefined)
                    inner.push(below);
                await breathe();
            }
            for (const name of inner) {
                const env_2 = { stack: [], error: void 0, hasError: false };
                try {
                    const below = __addDisposableResource(env_2, openBelow(folder, name), false);
                    if (below !== undefined)
                        await walk(below, depth + 1);
                }
                catch (e_2) {
                    env_2.error = e_2;
                    env_2.hasError = true;
                }
                finally {
                    __disposeResources(env_2);
                }
            }
        };
        const top = __addDisposableResource(env_1, openFolder(root, base), false);
        if (top !== undefined)
            await walk(top, 0);
        return { found, administrations: administrations.sort() };
    }
    catch (e_1) {
        env_1.error = e_1;
        env_1.hasError = true;
    }
    finally {
        __disposeResources(env_1);
    }
}
const BREATH_MS = 5;
/** Looks at a local disk are quicker than asking for them: they are made at once, and others have their turn in between. */
function breather() {
    let since = performance.now();
    return () => {
        if (performance.now() - since < BREATH_MS)
            return undefined;
        return new Promise((resolve) => setImmediate(() => {
            since = performance.now();
            resolve();
        }));
    };
}
/** A name that git or Subversion could take for the folder of its administration, on any file system. */
export function isAdministration(name) {
    const plain = Buffer.from(name, 'latin1')
        .toString('utf8')
        .normalize('NFKC')
        .replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
        .replace(/[. ]+$/, '')
        .toLowerCase();
    return ['.git', '.svn', 'git~1'].includes(plain.replace(/:.*$/, ''));
}
function checkName(path, depth) {
    if (depth <= MOST_DEPTH && path.length <= MOST_PATH_BYTES)
        return;
    throw new InvalidChange(`the path ${toText(path).slice(0, 100)}… is too long or too deep for a commit`);
}
export const toText = (bytes) => Buffer.from(bytes, 'latin1').toString('utf8');
export const toBytes = (text) => Buffer.from(text, 'utf8').toString('latin1');
/** The path as text. Throws where it is not UTF-8: it would be committed under another name. */
export function toPath(bytes) {
    const text = toText(bytes);
    if (toBytes(text) !== bytes)
        throw new InvalidChange(`the name ${text} is not UTF-8`);
    return text;
}
const joinName = (folder, name) => (folder === '' ? name : `${folder}/${name}`);
const HAS_HANDLES = process.platform === 'linux';
/** A folder of the tree; undefined when there is none, or a link in its place. */
function openFolder(root, path) {
    let folder = holdFolder(toBytes(root), '');
    for (const name of path.split('/').filter((part) => part !== '')) {
        const env_3 = { stack: [], error: void 0, hasError: false };
        try {
            if (folder === undefined)
                return undefined;
            const above = __addDisposableResource(env_3, folder, false);
            folder = openBelow(above, name);
        }
        catch (e_3) {
            env_3.error = e_3;
            env_3.hasError = true;
        }
        finally {
            __disposeResources(env_3);
        }
    }
    return folder;
}
const openBelow = (folder, name) => holdFolder(`${folder.here}/${name}`, joinName(folder.path, name));
function holdFolder(place, path) {
    const handle = unlessGone(() => openSync(bytesOf(place), FOLDER));
    if (handle === undefined)
        return undefined;
    const here = HAS_HANDLES ? `/proc/self/fd/${handle}` : place;
    return { path, here, [Symbol.dispose]: () => closeSync(handle) };
}
function lookAt({ here }, name) {
    const facts = unlessGone(() => lstatSync(bytesOf(`${here}/${name}`), { bigint: true }));
    if (facts === undefined)
        return undefined;
    const kind = kindOf(facts);
    return { kind, stamp: kind === 'folder' ? kind : stampOf(facts) };
}
function kindOf(facts) {
    if (facts.isFile())
        return 'file';
    if (facts.isSymbolicLink())
        return 'link';
    return facts.isDirectory() ? 'folder' : 'other';
}
const stampOf = ({ mode, size, ino, mtimeNs, ctimeNs }) => [mode, size, ino, mtimeNs, ctimeNs].map((fact) => fact.toString(36)).join('.');
const GONE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO']);
/** What a task has removed or replaced in between is gone. */
function unlessGone(look) {
    try {
        return look();
    }
    catch (error) {
        return ifGone(error);
    }
}
function ifGone(error) {
    if (!GONE.has(error.code ?? ''))
        throw error;
}
const bytesOf = (path) => Buffer.from(path, 'latin1');
const MOST_FILE_BYTES = 8 * 1024 ** 3;
/**
 * Copies what is at the path into a new file: of a link its target. Returns undefined when it is neither a file nor a link
 * any more. While the copy is made the original may change; the stamp is then one that no later look finds again.
 */
export async function takeContent(root, path, to) {
    const env_4 = { stack: [], error: void 0, hasError: false };
    try {
        const at = path.lastIndexOf('/');
        const folder = __addDisposableResource(env_4, openFolder(root, path.slice(0, Math.max(at, 0))), false);
        if (folder === undefined)
            return undefined;
        const name = path.slice(at + 1);
        const entry = lookAt(folder, name);
        if (entry?.kind === 'link') {
            const target = unlessGone(() => readlinkSync(bytesOf(`${folder.here}/${name}`), { encoding: 'buffer' }));
            if (target === undefined)
                return undefined;
            await writeFile(to, target, { flag: 'wx' });
            return { ...entry, isExecutable: false };
        }
        if (entry?.kind !== 'file')
            return undefined;
        const handle = await open(bytesOf(`${folder.here}/${name}`), CONTENT).catch(ifGone);
        if (handle === undefined)
            return undefined;
        try {
            const before = await handle.stat({ bigint: true });
            if (!before.isFile())
                return undefined;
            if (before.size > MOST_FILE_BYTES)
                throw new InvalidChange(`${toText(path)} holds ${before.size} bytes, more than ${MOST_FILE_BYTES} for one file`);
            // No further than the size that was checked: the file may grow while it is read.
            const content = before.size === 0n ? [] : handle.createReadStream({ autoClose: false, end: Number(before.size) - 1 });
            await pipeline(content, createWriteStream(to, { flags: 'wx' }));
            return { kind: 'file', stamp: stampOf(before), isExecutable: (before.mode & 64n) !== 0n };
        }
        finally {
            await handle.close();
        }
    }
    catch (e_4) {
        env_4.error = e_4;
        env_4.hasError = true;
    }
    finally {
        __disposeResources(env_4);
    }
}
