import { error } from "../result.ts";
import type { Result } from "../result.ts";

/**
 * The answer to every text a codec does not read: one frozen value made with the codec, so a hostile request
 * costs no allocation and no sentence can quote what was sent.
 */
export function malformed(expects: string): Result<never, string> {
  return Object.freeze(error(`This is not ${expects}.`));
}
