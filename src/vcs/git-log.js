import { HistoryRewritten } from './errors.js';
import { readFields, streamGit } from './git-tool.js';
import { below } from './location.js';
import { readTrailers } from './message.js';
import { nameOf } from './session.js';
const MAX_CHANGES = 100_000; // of one revision; about 20 MB of memory
// NUL ends each field and cannot be part of one: not of a name, not of a message, not of a path.
const FORMAT = '%H%x00%P%x00%an%x00%ae%x00%cI%x00%B';
/**
 * First parents from `after` to `to`, oldest first, by one `git log`. The first one answered must be a child of `after`:
 * being an ancestor is not enough, since a merge made the wrong way round leaves the old commits aside and gives their
 * numbers to others.
 */
export async function* readLog(session, log) {
    const { after, to, limit = Number.POSITIVE_INFINITY, withChanges = true } = log;
    if (to.number === 0 || limit < 1)
        return;
    const start = after && after.number > 0 ? after : undefined;
    const args = [
        'log',
        '-z',
        '--first-parent',
        '--reverse',
        '--encoding=UTF-8',
        `--format=${FORMAT}`,
        ...(withChanges ? ['--raw', '--no-abbrev', '--no-renames', '--diff-merges=first-parent'] : []),
        to.id,
        ...(start ? [`^${start.id}`] : []),
    ];
    let number = start?.number ?? 0;
    for await (const { parents, ...entry } of readEntries(session, args, log)) {
        if (number === start?.number && parents.split(' ')[0] !== start.id)
            throw rewritten(session, start, to);
        number += 1;
        yield { number, ...entry };
        if (number - (start?.number ?? 0) >= limit)
            return;
    }
    // Nothing is new although the ids differ: the branch was set back to something older.
    if (start && number === start.number && to.id !== start.id)
        throw rewritten(session, start, to);
}
export const rewritten = (session, known, found) => new HistoryRewritten(known.id, found.id, nameOf(session));
async function* readEntries(session, args, log) {
    const { base, maxChanges = MAX_CHANGES } = log;
    const fields = readFields(streamGit(session, args))[Symbol.asyncIterator]();
    const next = async () => (await fields.next()).value ?? undefined;
    try {
        let head = await next();
        while (head !== undefined) {
            const [id, parents = '', name = '', email = '', date = '', body = ''] = [
                head,
                await next(),
                await next(),
                await next(),
                await next(),
                await next(),
            ];
            const changes = [];
            let isCut = false;
            for (head = await next(); head?.replace(/^\n/, '').startsWith(':'); head = await next()) {
                const change = readRaw(head.replace(/^\n/, ''), (await next()) ?? '', base);
                if (change && changes.length < maxChanges)
                    changes.push(change);
                else if (change)
                    isCut = true;
            }
            const message = body.trimEnd();
            const facts = { author: name, authorEmail: email, date: new Date(date), message, marks: readTrailers(body) };
            yield { id, parents, ...facts, changes, isCut };
        }
    }
    finally {
        await fields.return?.(undefined);
    }
}
/** One line of `--raw`: `:OLD-MODE NEW-MODE OLD-ID NEW-ID STATUS`, with the path behind it. */
export function readRaw(line, path, base) {
    const inside = below(base, path);
    const [oldMode = '', newMode = '', , , status = ''] = line.slice(1).split(' ');
    if (inside === undefined)
        return undefined;
    // T: a file became a link, or the other way round.
    const action = status.startsWith('T') ? 'R' : status.slice(0, 1);
    return { path: inside, action, kind: kindOfMode(action === 'D' ? oldMode : newMode) };
}
export function kindOfMode(mode) {
    if (mode === '040000')
        return 'folder';
    if (mode === '120000')
        return 'link';
    return mode === '160000' ? 'submodule' : 'file';
}
