import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { chmod, lstat, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { InvalidRepository } from './errors.js';
const ABANDONED_MS = 24 * 60 * 60 * 1000; // no commit takes a day
/**
 * The folder in which everything about one repository is kept between uses. Its name comes from `facts`; whoever sees
 * the repository with other rights gets another folder.
 */
export function cacheFolder(cacheDir, type, facts) {
    if (!isAbsolute(cacheDir))
        throw new InvalidRepository(`the cache folder "${cacheDir}" is no absolute path`);
    return join(cacheDir, `${type}-${digest(facts.join('\0'))}`);
}
export const digest = (text) => createHash('sha256').update(text).digest('hex').slice(0, 20);
/** Makes the folder, readable for nobody else. */
export async function makeFolder(path) {
    await mkdir(path, { recursive: true, mode: 0o700 });
    return path;
}
/** Writes a file in one step, so that no reader finds half of it. */
export async function writeWhole(file, text) {
    const draft = `${file}.${randomUUID()}`;
    await writeFile(draft, text, { mode: 0o600 });
    await rename(draft, file);
}
/** A folder for the files of one commit; it is gone after the block. */
export async function temporaryFolder(folder) {
    await emptyTrash(folder);
    const path = await mkdtemp(join(await makeFolder(join(folder, 'tmp')), 'commit-'));
    return { path, [Symbol.asyncDispose]: () => removeTree(path) };
}
/**
 * Takes a file or folder out of the way at once and then removes it. What cannot be removed (another user's files, a
 * process that still writes) stays in the trash and is tried again by the next `emptyTrash`.
 */
export async function throwAway(folder, path) {
    const trash = await makeFolder(join(folder, 'trash'));
    try {
        await rename(path, join(trash, randomUUID()));
    }
    catch (error) {
        if (error.code !== 'ENOENT')
            throw error;
    }
    await emptyTrash(folder);
}
/** Removes what was thrown away, and temporary folders that a killed process has left. */
export async function emptyTrash(folder) {
    for (const name of await namesIn(join(folder, 'trash'))) {
        await removeTree(join(folder, 'trash', name)).catch(() => { });
    }
    for (const name of await namesIn(join(folder, 'tmp'))) {
        const path = join(folder, 'tmp', name);
        const facts = await lstat(path).catch(() => undefined);
        if (facts && Date.now() - facts.mtimeMs > ABANDONED_MS)
            await removeTree(path).catch(() => { });
    }
}
export async function namesIn(folder) {
    try {
        return await readdir(folder);
    }
    catch (error) {
        if (error.code === 'ENOENT')
            return [];
        throw error;
    }
}
/**
 * Removes a tree: also one with folders that its own user may not write, as some build tools leave them, and one whose paths
 * are longer than the system takes at once.
 */
export async function removeTree(path) {
    try {
        await rm(path, { recursive: true, force: true });
    }
    catch (error) {
        const { code = '' } = error;
        if (!['EACCES', 'EPERM', 'ENAMETOOLONG'].includes(code))
            throw error;
        if (code !== 'ENAMETOOLONG')
            await makeWritable(path);
        // Goes down folder by folder, where Node names each file by its whole path.
        await promisify(execFile)('rm', ['-rf', '--', path], { env: { PATH: '/usr/bin:/bin' } });
    }
}
async function makeWritable(folder) {
    if (!(await lstat(folder)).isDirectory())
        return; // the mode of a link would be that of its target
    await chmod(folder, 0o700);
    for (const entry of await readdir(folder, { withFileTypes: true })) {
        if (entry.isDirectory())
            await makeWritable(join(folder, entry.name));
    }
}
