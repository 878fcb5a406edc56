import { ok } from "../result.ts";
import type { Result } from "../result.ts";
import type { Codec } from "./codec.ts";
import { malformed } from "./malformed.ts";

const notUuid = /* @__PURE__ */ malformed("a UUID");
// RFC 9562 §4: versions 1 to 8 of the variant 10x; the nil and the max UUID (§5.9, §5.10) have neither.
const versioned = /^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[1-8][0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$/;
const nil = "00000000-0000-0000-0000-000000000000";
const max = "ffffffff-ffff-ffff-ffff-ffffffffffff";

function parse(text: string): Result<string, string> {
  return isUuid(text) ? ok(text.toLowerCase()) : notUuid;
}

function print(value: string): string {
  return isUuid(value) ? value.toLowerCase() : "";
}

function isUuid(text: string): boolean {
  return versioned.test(text) || text === nil || text === max;
}

/**
 * A UUID (RFC 9562) of version 1 to 8, the nil UUID, or the max UUID in lower case. Read in either case, the value
 * and what is printed are in lower case. Text that is no UUID prints as nothing.
 */
export const uuid: Codec<string, string> = { parse, print, text: { type: "string", format: "uuid" } };
