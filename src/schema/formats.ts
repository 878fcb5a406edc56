import { counted } from "../counted.ts";
import { fraction, oneOf, spell } from "./messages.ts";
import type { Issue } from "./valibot.ts";

export const dateSentence = "This must be a date written as YYYY-MM-DD, like 2026-09-30.";
export const instantSentence = "This must be an instant written as RFC 3339 has it, like 2026-09-30T12:00:00Z.";
export const uuidSentence = "This must be a UUID, like 01890a5d-ac96-7a3b-9e5a-5f1c2a7b8c9d.";

/** The sentence for each of Valibot's formats; Valibot's own sentences quote the value. */
const formats: { readonly [type: string]: string } = {
  base64: "This must be bytes in base64, padded to a multiple of four.",
  bic: "This must be a BIC, like DEUTDEFF500.",
  credit_card: "This must be the number of a payment card.",
  cuid2: "This must be a CUID2, like tz4a98xxat96iws9zmbrgj3a.",
  decimal: "This must be a number in decimal digits, like 12.5.",
  digits: "This must be digits and nothing else.",
  domain: "This must be a domain name, like example.com.",
  email: "This must be an email address, like lee@example.com.",
  emoji: "This must be emoji and nothing else.",
  hash: "This must be a hash in hexadecimal digits.",
  hex_color: "This must be a color in hexadecimal digits, like #3366cc.",
  hexadecimal: "This must be a number in hexadecimal digits, like 0x1f.",
  imei: "This must be an IMEI.",
  ip: "This must be an IP address, like 192.0.2.1 or 2001:db8::1.",
  ipv4: "This must be an IPv4 address, like 192.0.2.1.",
  ipv6: "This must be an IPv6 address, like 2001:db8::1.",
  isbn: "This must be an ISBN.",
  iso_date: dateSentence,
  iso_date_time: "This must be a date and a time written as YYYY-MM-DDThh:mm, like 2026-09-30T12:00.",
  iso_date_time_second: "This must be a date and a time written as YYYY-MM-DDThh:mm:ss, like 2026-09-30T12:00:00.",
  iso_time: "This must be a time written as hh:mm, like 12:00.",
  iso_time_second: "This must be a time written as hh:mm:ss, like 12:00:00.",
  iso_timestamp: instantSentence,
  iso_week: "This must be a week written as YYYY-Www, like 2026-W40.",
  isrc: "This must be an ISRC, like USRC17607839.",
  jws_compact: "This must be a JWS in its compact form.",
  ksuid: "This must be a KSUID.",
  mac: "This must be a MAC address, like 00:00:5e:00:53:01.",
  mac48: "This must be a 48-bit MAC address, like 00:00:5e:00:53:01.",
  mac64: "This must be a 64-bit MAC address, like 00:00:5e:ef:10:00:00:01.",
  mime_type: "This must be a media type.",
  nanoid: "This must be a Nano ID.",
  octal: "This must be a number in octal digits, like 0o17.",
  rfc_email: "This must be an email address, like lee@example.com.",
  slug: "This must be a slug, like two-words.",
  ulid: "This must be a ULID, like 01arz3ndektsv4rrffq69g5fav.",
  url: "This must be a URI with its scheme, like https://example.com/path.",
  uuid: uuidSentence,
};

/** The code and the sentence for an issue of Valibot. */
export function problemOf(issue: Issue): { readonly code: string; readonly sentence: string } {
  const sentence = formats[issue.type];
  if (sentence !== undefined) return { code: "malformed", sentence };
  const [, side, noun] = /^(min|max|not)?_?(bytes|graphemes|words)$/.exec(issue.type) ?? [];
  if (noun !== undefined && side !== "not") return sized(issue, side, noun.slice(0, -1));
  switch (issue.type) {
    case "value":
    case "values":
      return { code: "unknown_word", sentence: `This must be ${oneOf([issue.requirement].flat())}.` };
    case "starts_with":
      return { code: "malformed", sentence: `This must start with ${spell(issue.requirement)}.` };
    case "ends_with":
      return { code: "malformed", sentence: `This must end with ${spell(issue.requirement)}.` };
    case "to_number":
      return { code: "malformed", sentence: "This must be a number written as text." };
    case "parse_json":
      return { code: "malformed", sentence: "This must be JSON written as text." };
    case "finite":
      return { code: "unexpected_type", sentence: "This must be a number." };
    case "safe_integer":
    case "integer":
      return { code: "unexpected_type", sentence: fraction };
    default:
      return { code: "malformed", sentence: "This could not be read." };
  }
}

function sized(issue: Issue, side: string | undefined, noun: string): { code: string; sentence: string } {
  const how = side === "min" ? "at least" : side === "max" ? "at most" : "exactly";
  const below = side === "min" || (side === undefined && Number(issue.received) < Number(issue.requirement));
  const sentence = `This must be ${how} ${counted(Number(issue.requirement), noun)} long.`;
  return { code: below ? "too_short" : "too_long", sentence };
}
