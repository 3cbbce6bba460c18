// A bare copy of the repository with the whole history of the branches that are used. Everything is read from it; the
// repository itself is asked only what its branch points to, and for what is missing here. Commands never run in a
// repository that others may configure.
//
// The branch is kept under a name of its own, since a branch `a` today and `a/b` tomorrow could not be kept both.
import { randomUUID } from 'node:crypto';
import { access, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { digest, makeFolder, namesIn, removeTree, throwAway } from './cache.js';
import { BranchNotFound, ToolFailed } from './errors.js';
import { mirrorOf, runGit } from './git-tool.js';
import { lock } from './lock.js';
import { nameOf } from './session.js';
const STALE_MS = 60_000; // git holds these files for milliseconds
const MANY_PACKS = 60;
const MANY_LOOSE = 30; // in one of 256 folders: about 7,700 in all, near git's own limit
// What git says of a mirror that a power failure or a foreign hand has damaged.
const DAMAGE = /not a git repository|object file .* is empty|is corrupt|bad (tree|commit|config)|unable to read|missing (blob|tree|commit)|inflate|invalid sha1 pointer|garbage at end|unable to find [0-9a-f]{40}|missing necessary objects|packfile .* cannot be/i;
export const refOf = (branch) => `refs/millrace/${digest(branch)}`;
/** Every command needs a repository to run in, also one that only asks another. */
export async function ensureMirror(session) {
    if (await isMirror(session))
        return;
    await makeFolder(session.folder);
    const held = await lock(lockOf(session), session.signal);
    try {
        await makeMirror(session);
    }
    finally {
        await held.release();
    }
}
const lockOf = ({ folder }) => `${mirrorOf(folder)}.lock`;
// Stands above the files of that name in a tree, and takes everything back that those can ask for: filters, line ends, idents.
const ATTRIBUTES = '* -text -crlf -ident -filter -working-tree-encoding -diff -merge !eol\n';
const attributesOf = (mirror) => join(mirror, 'info', 'attributes');
function isMirror({ folder }) {
    const mirror = mirrorOf(folder);
    return Promise.all([access(join(mirror, 'HEAD')), access(attributesOf(mirror))]).then(() => true, () => false);
}
/** The commit that the branch points to in the repository; undefined when there is no such branch. */
export async function askTip(session, branch) {
    const wanted = `refs/heads/${branch}`;
    const said = await runGit(session, ['ls-remote', '--', session.location.url, wanted]);
    // The pattern is matched from the end of a name, so others may come with it.
    const line = lines(said).find((one) => one.endsWith(`\t${wanted}`));
    return line?.slice(0, line.indexOf('\t'));
}
/** Throws `BranchNotFound` unless the repository is empty altogether. */
export async function checkEmpty(session, branch) {
    const heads = lines(await runGit(session, ['ls-remote', '--heads', '--', session.location.url]));
    if (heads.length === 0)
        return;
    const names = heads.slice(0, 5).map((line) => line.replace(/^.*\trefs\/heads\//, ''));
    throw new BranchNotFound(`${nameOf(session)} has no branch ${branch}; it has ${names.join(', ')}`);
}
/** The branch that the repository itself names as its first; `main` when it names none. */
export async function askDefaultBranch(session) {
    const said = lines(await runGit(session, ['ls-remote', '--symref', '--', session.location.url, 'HEAD']));
    const line = said.find((one) => one.startsWith('ref: refs/heads/'));
    return line?.slice('ref: refs/heads/'.length).split('\t')[0] ?? 'main';
}
const lines = (said) => said
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');
/** Brings the mirror up to date with the branch and answers the commit it points to. */
export async function fetchBranch(session, branch) {
    await makeFolder(session.folder);
    const held = await lock(lockOf(session), session.signal);
    try {
        await makeMirror(session);
        await removeStaleLocks(session, branch);
        try {
            return await fetch(session, branch);
        }
        catch (error) {
            if (!isDamage(error))
                throw error;
            await replaceMirror(session, branch);
            return await fetch(session, branch);
        }
    }
    finally {
        await held.release();
    }
}
/** Which mirror it is: a new one in its place differs. Undefined when there is none. */
export async function identityOfMirror({ folder }) {
    const facts = await stat(mirrorOf(folder), { bigint: true }).catch(() => undefined);
    return facts && `${facts.ino} ${facts.birthtimeNs}`;
}
/**
 * Replaces the mirror that was found damaged. Workspaces find their commits in the new one. When another caller has
 * replaced or made it since, that one stays: others read from it.
 */
export async function remakeMirror(session, branch, damaged) {
    const held = await lock(lockOf(session), session.signal);
    try {
        const isSame = (await identityOfMirror(session)) === damaged;
        if (isSame)
            await replaceMirror(session, branch);
        else
            await fetch(session, branch);
    }
    finally {
        await held.release();
    }
}
/** The new mirror has everything before it takes the place of the old one: readers never find it empty. */
async function replaceMirror(session, branch) {
    const mirror = mirrorOf(session.folder);
    const draft = await draftOf(session);
    try {
        await fetchInto(session, branch, draft);
        await throwAway(session.folder, mirror);
        await rename(draft, mirror);
    }
    finally {
        await removeTree(draft);
    }
}
async function fetchInto(session, branch, gitDir) {
    const quiet = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--no-recurse-submodules'];
    const what = `+refs/heads/${branch}:${refOf(branch)}`;
    const call = { silenceMs: session.transferMs, ...(gitDir === undefined ? {} : { gitDir }) };
    await runGit(session, ['fetch', ...quiet, '--', session.location.url, what], call);
}
async function fetch(session, branch) {
    await fetchInto(session, branch);
    await gather(session);
    return (await runGit(session, ['rev-parse', '--verify', `${refOf(branch)}^{commit}`])).toString('utf8').trim();
}
export const isDamage = (error) => error instanceof ToolFailed && DAMAGE.test(error.stderr);
/** Makes an empty mirror where there is none, in one step: a crash leaves nothing that looks like one. */
async function makeMirror(session) {
    if (await isMirror(session))
        return;
    const mirror = mirrorOf(session.folder);
    const draft = await draftOf(session);
    try {
        await throwAway(session.folder, mirror);
        await rename(draft, mirror);
    }
    finally {
        await removeTree(draft);
    }
}
async function draftOf(session) {
    const draft = join(await makeFolder(join(session.folder, 'tmp')), `draft-${randomUUID()}.git`);
    await runGit(session, ['init', '--quiet', '--bare', '--template='], { gitDir: draft });
    await mkdir(join(draft, 'info'), { recursive: true });
    await writeFile(attributesOf(draft), ATTRIBUTES);
    return draft;
}
/** A fetch that was killed leaves files that git takes for the locks of another one, for ever. */
async function removeStaleLocks(session, branch) {
    const mirror = mirrorOf(session.folder);
    const graphs = join('objects', 'info', 'commit-graphs');
    const names = [`${refOf(branch)}.lock`, 'packed-refs.lock', 'config.lock', join(graphs, 'commit-graph-chain.lock')];
    for (const file of names.map((name) => join(mirror, name))) {
        const facts = await stat(file).catch(() => undefined);
        if (facts && Date.now() - facts.mtimeMs > STALE_MS)
            await rm(file, { force: true });
    }
}
/**
 * Each fetch leaves a pack or loose objects. Now and then they are gathered; nothing is ever dropped, since workspaces
 * may still stand on commits that no branch leads to.
 */
async function gather(session) {
    const objects = join(mirrorOf(session.folder), 'objects');
    const packs = (await namesIn(join(objects, 'pack'))).filter((name) => name.endsWith('.pack'));
    const loose = await readdir(join(objects, '17')).catch(() => []);
    if (packs.length < MANY_PACKS && loose.length < MANY_LOOSE)
        return;
    await runGit(session, ['repack', '--quiet', '-d', '--geometric=2'], { silenceMs: session.transferMs });
}
