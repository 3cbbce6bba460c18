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
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from './cache.js';
import { InvalidChange } from './errors.js';
import { checkMarker, cleanMessage, MARK_PREFIX, readPerson } from './message.js';
import { committing, runSvn } from './svn-tool.js';
import { baseOf, readStatus, takeOver } from './svn-workspace.js';
/** Commits what is different in the workspace; undefined when nothing is. */
export async function commitWorkspace(session, { slot }, options) {
    const env_1 = { stack: [], error: void 0, hasError: false };
    try {
        const links = await takeOver(session, slot);
        const folder = __addDisposableResource(env_1, await temporaryFolder(session.folder), true);
        if (!(await schedule(session, { slot, links, folder: folder.path })))
            return undefined;
        const described = await describeCommit(session, options, folder.path);
        const args = ['--force-log', '--encoding', 'UTF-8', ...described, `${baseOf(slot)}@`];
        const limits = { silenceMs: session.transferMs };
        const said = await committing(() => runSvn(session, ['svn', 'commit', ...args], limits));
        return readCommitted(said, /Committed revision (\d+)\./);
    }
    catch (e_1) {
        env_1.error = e_1;
        env_1.hasError = true;
    }
    finally {
        const result_1 = __disposeResources(env_1);
        if (result_1)
            await result_1;
    }
}
/**
 * Tells the working copy what a person would: what is new, what is gone, what became something else. Returns whether
 * there is anything to commit.
 */
async function schedule(session, { slot, links, folder }) {
    // Subversion looks into the folder that a link leads to when the link stands in the place of a folder.
    const found = (await readStatus(session, slot)).filter(({ path }) => !isBelow(path, links));
    const conflict = found.find(({ isConflicted }) => isConflicted);
    if (conflict)
        throw new InvalidChange(`${conflict.path} is in conflict`);
    const paths = (...items) => found.filter(({ item }) => items.includes(item)).map(({ path }) => path);
    const run = async (paths, ...args) => {
        if (paths.length === 0)
            return;
        const file = join(folder, 'targets');
        // One path in a line, and an @ behind each, so that one in a name means nothing.
        if (paths.some((path) => path.includes('\n')))
            throw new InvalidChange('a file name holds a line feed');
        await writeFile(file, paths.map((path) => `${path}@\n`).join(''));
        await runSvn(session, ['svn', ...args, '--quiet', '--targets', file]);
    };
    await run(paths('missing'), 'delete', '--force');
    await run(paths('obstructed'), 'delete', '--force', '--keep-local');
    const added = paths('unversioned', 'obstructed');
    const add = ['add', '--force', '--no-auto-props'];
    await run(added.filter((path) => links.has(path)), ...add, '--depth', 'empty');
    await run(added.filter((path) => !links.has(path)), ...add);
    return found.length > 0;
}
function isBelow(path, folders) {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
        if (folders.has(path.slice(0, at)))
            return true;
    return false;
}
/** The options that say why and by whom, for `svn` and `svnmucc` alike. */
export async function describeCommit(session, { message, marker, author }, folder) {
    const file = join(folder, 'message');
    await writeFile(file, cleanMessage(message));
    const described = ['--file', file, '--with-revprop', `${MARK_PREFIX}cause=${checkMarker(marker)}`];
    if (author === undefined)
        return described;
    // A server writes the user whose password it has seen. Without one, as with file://, the name that is given counts.
    const { name } = readPerson(author);
    const isFree = session.credentials === undefined && session.location.scheme === 'file';
    return [...described, ...(isFree ? ['--username', name] : ['--with-revprop', `${MARK_PREFIX}author=${name}`])];
}
export function readCommitted(said, pattern) {
    const number = pattern.exec(said.toString('utf8'))?.[1];
    return number === undefined ? undefined : { number: Number(number), id: number };
}
