import { writeFile } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { InvalidChange } from './errors.js';
import { writablePath } from './location.js';
/**
 * The changes with their paths in one form. Refuses what contradicts itself: a path twice, a file that is also a folder.
 * A path may be deleted and put, as when a folder becomes a file. What is deleted with its folder is not deleted again.
 */
export function checkChanges(type, given) {
    if (given.length === 0)
        throw new InvalidChange('there is nothing to commit');
    const changes = given.map((change) => ({ ...change, path: writablePath(type, change.path) }));
    const seen = new Set();
    for (const { type, path } of changes) {
        const what = type === 'delete' ? `delete ${path}` : path;
        if (seen.has(what))
            throw new InvalidChange(`${path} is changed twice`);
        seen.add(what);
    }
    const puts = new Set(changes.filter((change) => change.type === 'put').map(({ path }) => path));
    const deletes = new Set(changes.filter((change) => change.type === 'delete').map(({ path }) => path));
    for (const change of changes) {
        const file = change.type === 'delete' ? undefined : foldersAbove(change.path).find((folder) => puts.has(folder));
        if (file !== undefined)
            throw new InvalidChange(`${file} is put as a file and used as a folder`);
        if (change.type === 'put' && 'file' in change.content && !isAbsolute(change.content.file)) {
            throw new InvalidChange(`${change.content.file} is no absolute path`);
        }
    }
    const isCovered = ({ type, path }) => type === 'delete' && foldersAbove(path).some((one) => deletes.has(one));
    return changes.filter((change) => !isCovered(change));
}
/** The folders in which a path lies, from the top. */
export function foldersAbove(path) {
    const folders = [];
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1))
        folders.push(path.slice(0, at));
    return folders;
}
/** The file with the content: the caller's own, or `file`, in which it is written. */
export async function contentFile(content, file) {
    if ('file' in content)
        return content.file;
    await writeFile(file, content);
    return file;
}
