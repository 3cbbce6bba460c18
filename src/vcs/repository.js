/** Gathers what a repository answers piece by piece. */
export async function collect(pieces) {
    const all = [];
    for await (const piece of pieces)
        all.push(piece);
    return all;
}
