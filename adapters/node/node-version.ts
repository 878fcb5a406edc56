export const isBun: boolean = "bun" in process.versions;
const isNode = !isBun && !("deno" in process.versions);

/** Node's own version; 0 on Bun and Deno, which tell one too and have none of what is Node's own. */
export const nodeMajor: number = isNode ? Number.parseInt(process.versions.node, 10) : 0;

/**
 * Whether this is a Node whose members without documentation are known to be what they are taken for: the tests saw it.
 * A newer one is asked for all of it by what is documented, which costs a request more.
 */
export const isKnownNode: boolean = nodeMajor >= 20 && nodeMajor <= 26;
