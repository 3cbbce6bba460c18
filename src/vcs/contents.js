// What is learnt of many files at once: the parts that both programs share.
import { createHash } from 'node:crypto';
/** Takes the bytes of one file piece by piece, and keeps no more of them than its beginning. */
export class Intake {
    #hash = createHash('sha256');
    #head = [];
    #wanted;
    #size = 0;
    constructor(headBytes) {
        this.#wanted = headBytes;
    }
    add(bytes) {
        this.#hash.update(bytes);
        this.#size += bytes.length;
        if (this.#wanted === 0)
            return;
        // A copy: the piece is part of a larger one, which would stay in memory with it.
        const kept = Buffer.from(bytes.subarray(0, this.#wanted));
        this.#head.push(kept);
        this.#wanted -= kept.length;
    }
    end() {
        return { size: this.#size, digest: this.#hash.digest(), head: Buffer.concat(this.#head) };
    }
}
/** The entries that are no folders, so many together as `measure` allows; what is too heavy goes alone. */
export async function* inChunks(entries, { count, weight, weigh }) {
    let chunk = [];
    let sum = 0;
    for await (const entry of entries) {
        if (entry.kind === 'folder')
            continue;
        const more = weigh(entry);
        if (chunk.length > 0 && (chunk.length >= count || sum + more > weight)) {
            yield chunk;
            chunk = [];
            sum = 0;
        }
        chunk.push(entry);
        sum += more;
    }
    if (chunk.length > 0)
        yield chunk;
}
/** A list in pieces of at most `count`. */
export function* inPieces(all, count) {
    for (let from = 0; from < all.length; from += count)
        yield all.slice(from, from + count);
}
