import { FileTooLarge, PathNotFound, ToolFailed } from './errors.js';
import { kindOfMode, readRaw } from './git-log.js';
import { readFields, runGit, streamGit } from './git-tool.js';
import { insidePath, joinPath } from './location.js';
import { collect } from './repository.js';
import { OutputTooLarge } from './tool.js';
// The tree of nothing; git knows it without having it.
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
/** The name under which git finds the tree of a revision. */
export const treeish = ({ number, id }) => (number === 0 ? EMPTY_TREE : id);
/** What `git ls-tree --long` tells of one entry. */
export async function* readTree(session, args) {
    for await (const field of readFields(streamGit(session, ['ls-tree', '-z', '--long', '--full-tree', ...args]))) {
        const tab = field.indexOf('\t');
        const [mode = '', , id = '', size = ''] = field.slice(0, tab).split(/ +/);
        yield { mode, id, size, path: field.slice(tab + 1) };
    }
}
export async function* listFolder(session, { base, path, revision, isRecursive }) {
    const inside = insidePath(path);
    const folder = joinPath(base, inside);
    const deep = isRecursive ? ['-r', '-t'] : [];
    const name = folder === '' ? treeish(revision) : `${treeish(revision)}:${folder}`;
    try {
        for await (const entry of readTree(session, [...deep, name])) {
            yield describe(entry, joinPath(inside, entry.path));
        }
    }
    catch (error) {
        // The folder does not exist or is a file. Whether the commit does is for the caller to find out.
        if (!isMissing(error))
            throw error;
        await runGit(session, ['cat-file', '-e', `${treeish(revision)}^{tree}`]);
    }
}
const isMissing = (error) => error instanceof ToolFailed && /not a valid object name|not a tree object/i.test(error.stderr);
export function describe({ mode, size, id }, path) {
    const kind = kindOfMode(mode);
    return { path, kind, ...(/^\d+$/.test(size) ? { size: Number(size) } : {}), object: { id, mode } };
}
async function findEntry(session, { base, path, revision }) {
    const full = joinPath(base, insidePath(path));
    if (full === '')
        return { mode: '040000', id: '', size: '-', path: '' };
    const entries = await collect(readTree(session, [treeish(revision), '--', full]));
    return entries.find((entry) => entry.path === full);
}
export async function statPath(session, at) {
    const entry = await findEntry(session, at);
    return entry && describe(entry, insidePath(at.path));
}
export async function readFile(session, at) {
    const inside = insidePath(at.path);
    const full = joinPath(at.base, inside);
    try {
        return await runGit(session, ['cat-file', 'blob', `${treeish(at.revision)}:${full}`], { maxBytes: at.maxBytes });
    }
    catch (error) {
        if (error instanceof OutputTooLarge)
            throw new FileTooLarge(`${inside} is larger than ${at.maxBytes} bytes`);
        if (!(error instanceof ToolFailed))
            throw error;
        const entry = await findEntry(session, at); // throws when the commit itself is missing
        if (entry && ['file', 'link'].includes(kindOfMode(entry.mode)))
            throw error;
        throw new PathNotFound(`there is no file ${inside} in ${at.revision.id}`);
    }
}
export async function readProperties(session, at) {
    const entry = await findEntry(session, at);
    if (!entry)
        throw new PathNotFound(`there is no ${at.path} in ${at.revision.id}`);
    return { mode: entry.mode };
}
export async function* readDiff(session, { base, from, to }) {
    const trees = [treeish(from), treeish(to)];
    const args = ['diff-tree', '-r', '-z', '--raw', '--no-abbrev', '--no-renames', ...trees];
    let line;
    for await (const field of readFields(streamGit(session, args))) {
        if (line === undefined) {
            line = field;
            continue;
        }
        const change = readRaw(line, field, base);
        line = undefined;
        if (change)
            yield change;
    }
}
