import { weighted } from "../../src/codecs/negotiation.ts";

/** A content coding of which a compressed file may lie next to its file, in the order of preference. */
export type Encoding = "br" | "zstd" | "gzip";

/** The extension of each coding's file. */
export const encodings: readonly (readonly [encoding: Encoding, extension: string])[] = [
  ["br", ".br"],
  ["zstd", ".zst"],
  ["gzip", ".gz"],
];

/**
 * The coding that a client prefers of those that exist; undefined for the file as it is (RFC 9110 §12.5.3). A field that cannot
 * be read asks for none.
 */
export function preferredEncoding(field: string | undefined, existing: readonly Encoding[]): Encoding | undefined {
  const read = field === undefined || existing.length === 0 ? undefined : weighted.parse(field);
  if (read?.ok !== true) return undefined;
  const weightOf = (name: string): number | undefined => read.value.find(({ token }) => token === name)?.weight;
  const any = weightOf("*");
  let best: Encoding | undefined;
  // What is not listed is less wanted than any coding that is.
  let most = weightOf("identity") ?? 0;
  for (const encoding of existing) {
    const weight = weightOf(encoding) ?? any ?? 0;
    if (weight > most || (weight === most && weight > 0 && best === undefined)) [best, most] = [encoding, weight];
  }
  return best;
}
