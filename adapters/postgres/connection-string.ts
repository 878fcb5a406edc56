/** `Conninfo`: connection strings. */
import { needs, needsObject, needsText } from "../../src/arguments.ts";

/** A parsed connection string. */
export interface Conninfo {
  /** Tried in this order. A host that begins with `/` is the directory of a Unix socket. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  /** The database's name. */
  readonly database: string;
  /** The role to sign in as. */
  readonly user: string;
  /** No message contains it. */
  readonly password?: string;
  /** How the connection is encrypted. */
  readonly tls: Tls;
  /** How long to wait for each address; 10 000 by default. */
  readonly connectTimeoutMs?: number;
  /** Which of several hosts to use; any by default. */
  readonly session: SessionKind;
  /** Settings of every connection: `application_name`, `options`. */
  readonly parameters: { readonly [name: string]: string };
}

/** The TLS settings, with libpq's names. */
export interface Tls {
  /** libpq's `sslmode`; only `verify-full` checks which server answers. */
  readonly mode: "disable" | "prefer" | "require" | "verify-ca" | "verify-full";
  /** The file of certificate authorities; `system` for the runtime's own. */
  readonly rootCertificate?: string;
  /** The files of the client's own certificate and key. */
  readonly certificate?: string;
  /** The file of the client's key. */
  readonly key?: string;
}

const sessionKinds = ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"] as const;
/** Which server of several is used, as `target_session_attrs` of libpq. */
export type SessionKind = (typeof sessionKinds)[number];
const tlsModes = ["disable", "prefer", "require", "verify-ca", "verify-full"] as const;

const known: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "host",
  "port",
  "user",
  "password",
  "dbname",
  "sslmode",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "connect_timeout",
  "application_name",
  "options",
  "target_session_attrs",
]);

type Words = Map<string, string>;

const exampleUrl = "postgres://user@host/database";

/**
 * Parses a connection string: a URL, `postgres://user:password@host:5432/database?sslmode=verify-full`, or keywords,
 * `host=/run/postgresql dbname=orders`. Separate several hosts by commas, and percent-encode values in a URL. Defaults:
 * the database has the user's name, the host is `localhost`, the port 5432, `sslmode` is `prefer`.
 *
 * Keywords: `host port user password dbname sslmode sslrootcert sslcert sslkey connect_timeout application_name options
 * target_session_attrs`, as in libpq (PostgreSQL §34.1.2). It does not read the environment.
 *
 * @throws Error naming the wrong part, never the password.
 */
export function parse(text: string): Conninfo {
  needsText("Conninfo.parse: the connection string", text);
  const words = /^postgres(?:ql)?:\/\//.test(text) ? urlWords(text) : keywordWords(text);
  for (const name of words.keys()) {
    if (known.has(name)) continue;
    const takes = [...known].join(", ");
    throw new Error(`the connection string has an unknown keyword ${JSON.stringify(name)}: it takes ${takes}`);
  }
  const user = words.get("user");
  if (user === undefined) {
    throw new Error(`the connection string ${text.trim() === "" ? "is empty" : "has no user"}: write ${exampleUrl}`);
  }
  const password = words.get("password");
  const seconds = words.get("connect_timeout");
  const parameters = ["application_name", "options"].flatMap((name) => {
    const value = words.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const info: Conninfo = {
    hosts: hostsOf(words.get("host") ?? "localhost", words.get("port") ?? "5432"),
    database: words.get("dbname") ?? user,
    user,
    ...(password === undefined ? {} : { password }),
    tls: tlsOf(words),
    session: oneOf(sessionKinds, "target_session_attrs", words.get("target_session_attrs") ?? "any"),
    parameters: Object.fromEntries(parameters),
  };
  return seconds === undefined ? info : withConnectTimeout(info, 1000 * wholeNumber("connect_timeout", seconds));
}

/** A copy with another connect timeout for each address; 0 for no limit. */
export function withConnectTimeout(target: Conninfo, ms: number): Conninfo {
  needsObject("Conninfo.withConnectTimeout: its target", target);
  needs(typeof ms === "number" && ms >= 0, "Conninfo.withConnectTimeout: ms", ms, "milliseconds");
  return { ...target, connectTimeoutMs: ms };
}

function tlsOf(words: Words): Tls {
  const rootCertificate = words.get("sslrootcert");
  const certificate = words.get("sslcert");
  const key = words.get("sslkey");
  // Anybody can get a certificate from the system's authorities, so the host name must be checked (libpq requires it too).
  const isSystem = rootCertificate === "system";
  const mode = oneOf(tlsModes, "sslmode", words.get("sslmode") ?? (isSystem ? "verify-full" : "prefer"));
  if (isSystem && mode !== "verify-full")
    throw new Error(`the connection string's sslmode must be verify-full, not ${mode}, where sslrootcert is system`);
  return {
    mode,
    ...(rootCertificate === undefined ? {} : { rootCertificate }),
    ...(certificate === undefined ? {} : { certificate }),
    ...(key === undefined ? {} : { key }),
  };
}

const urlForm = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^@/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/;

// `URL` accepts neither several hosts nor a directory as host.
function urlWords(text: string): Words {
  const [, credentials = "", authority = "", path = "", query = ""] = urlForm.exec(text) ?? notReadable();
  const words: Words = new Map();
  const set = (name: string, value: string): void => {
    if (value !== "") words.set(name, value);
  };
  const colon = credentials.indexOf(":");
  set("user", decoded("user", colon === -1 ? credentials : credentials.slice(0, colon)));
  if (colon !== -1) set("password", decoded("password", credentials.slice(colon + 1)));
  const places = authority.split(",").map((place) => /^(\[[^\]]*\]|[^:]*)(?::([0-9]*))?$/.exec(place) ?? notReadable());
  set("host", places.map(([, host = ""]) => decoded("host", host.replace(/^\[|\]$/g, ""))).join(","));
  if (places.some(([, , port]) => port)) set("port", places.map(([, , port]) => port || "5432").join(","));
  set("dbname", decoded("dbname", path));
  for (const pair of query === "" ? [] : query.split("&")) {
    const [name = "", ...value] = pair.split("=");
    // A password with a "?" that is not encoded may end here: its error must not quote it.
    if (!/^\w+$/.test(name)) notReadable();
    set(name, decoded(name, value.join("=")));
  }
  return words;
}

function decoded(name: string, text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error(`the connection string's ${name} is not percent-encoded`);
  }
}

// name = value, 'in quotes', with \' and \\ (PostgreSQL §34.1.1.1).
const keyword = /\s*([a-z_]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^\s\\']|\\.)*))(?=\s|$)/gsy;

function keywordWords(text: string): Words {
  const words: Words = new Map();
  const trimmed = text.trimEnd();
  for (let at = 0; at < trimmed.length; at = keyword.lastIndex) {
    keyword.lastIndex = at;
    const [, name = "", quoted, bare = ""] = keyword.exec(trimmed) ?? notReadable();
    const value = (quoted ?? bare).replace(/\\(.)/gs, "$1");
    if (value === "") words.delete(name);
    else words.set(name, value);
  }
  return words;
}

function notReadable(): never {
  throw new Error(
    `not a connection string: write ${exampleUrl}, or host=… user=… dbname=…. In a URL, percent-encode any other character: # is %23, @ is %40, / is %2F`,
  );
}

function hostsOf(hosts: string, ports: string): Conninfo["hosts"] {
  const names = hosts.split(",");
  const numbers = ports.split(",").map((port) => wholeNumber("port", port));
  if (numbers.length !== 1 && numbers.length !== names.length)
    throw new Error("the connection string must have one port, or one for each host");
  return names.map((host, at) => {
    const port = numbers[numbers.length === 1 ? 0 : at] as number;
    if (port < 1 || port > 65535) throw new Error("the connection string's port must be from 1 to 65535");
    return { host: host === "" ? "localhost" : host, port };
  });
}

function wholeNumber(name: string, text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) throw new Error(`the connection string's ${name} must be a whole number`);
  return Number(text);
}

function oneOf<const Words extends readonly string[]>(words: Words, name: string, word: string): Words[number] {
  if (words.includes(word)) return word;
  throw new Error(`the connection string's ${name} must be one of ${words.join(", ")}`);
}
