/** Regular expressions taken apart, for a matcher that counts its steps. */

export type Part =
  | { readonly kind: "character"; readonly source: string }
  | { readonly kind: "assertion"; readonly source: string }
  | { readonly kind: "look"; readonly part: Part; readonly wanted: boolean }
  | { readonly kind: "sequence"; readonly parts: readonly Part[] }
  | { readonly kind: "choice"; readonly parts: readonly Part[] }
  | {
      readonly kind: "repeat";
      readonly part: Part;
      readonly least: number;
      readonly most: number;
      readonly lazy: boolean;
    };

const assertion = /\^|\$|\\[bB]/y;
const look = /\(\?([=!])/y;
const group = /\((?:\?:|\?<[A-Za-z_]\w*>|(?!\?))/y;
const bracketed = /\[(?:[^\]\\]|\\[^])*\]/y;
const escape = /\\(?:u\{[\dA-Fa-f]+\}|u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2}|[pP]\{[^}]*\}|c[A-Za-z]|0(?!\d)|[^1-9kcpPux])/y;
const quantifier = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})(\??)/y;

/** Throws for what it does not read: a backreference, a lookbehind, the `v` flag. */
export function parsePattern({ source, flags, unicode }: RegExp): Part {
  const fail = (): never => {
    throw new Error(`the counting matcher does not read /${source}/${flags}: teach it, or write the pattern otherwise`);
  };
  if (flags.includes("v")) fail();
  let at = 0;

  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const taken = pattern.exec(source) ?? undefined;
    at += taken?.[0].length ?? 0;
    return taken;
  };
  const takeText = (text: string): boolean => {
    if (!source.startsWith(text, at)) return false;
    at += text.length;
    return true;
  };

  function choice(): Part {
    const parts = [sequence()];
    while (takeText("|")) parts.push(sequence());
    return parts.length === 1 ? (parts[0] as Part) : { kind: "choice", parts };
  }

  function sequence(): Part {
    const parts: Part[] = [];
    while (at < source.length && source[at] !== "|" && source[at] !== ")") parts.push(repeated(term()));
    return { kind: "sequence", parts };
  }

  function term(): Part {
    const asserted = take(assertion);
    if (asserted !== undefined) return { kind: "assertion", source: asserted[0] };
    const looked = take(look);
    if (looked !== undefined) return { kind: "look", part: closed(), wanted: looked[1] === "=" };
    if (take(group) !== undefined) return closed();
    const character = (take(bracketed) ?? take(escape))?.[0];
    if (character !== undefined) return { kind: "character", source: character };
    const literal = String.fromCodePoint((unicode ? source.codePointAt(at) : source.charCodeAt(at)) as number);
    if ("()[\\*+?".includes(literal)) fail();
    at += literal.length;
    return { kind: "character", source: literal === "{" || literal === "/" ? `\\${literal}` : literal };
  }

  function closed(): Part {
    const part = choice();
    if (!takeText(")")) fail();
    return part;
  }

  function repeated(part: Part): Part {
    const taken = take(quantifier);
    if (taken === undefined) return part;
    const [, sign, from, comma, to, lazily] = taken;
    const least = sign === undefined ? Number(from) : sign === "+" ? 1 : 0;
    const most =
      sign === undefined ? (comma === undefined ? least : Number(to || Infinity)) : sign === "?" ? 1 : Infinity;
    return { kind: "repeat", part, least, most, lazy: lazily === "?" };
  }

  const whole = choice();
  return at === source.length ? whole : fail();
}
