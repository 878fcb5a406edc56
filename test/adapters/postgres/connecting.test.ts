/** Encryption, passwords, certificates and several hosts, on every runtime. The keys are of these tests alone. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { Pool, Statement, Type } from "usher-http/postgres";
import { parse } from "../../../adapters/postgres/connection-string.ts";
import { openConnection } from "../../../adapters/postgres/connection.ts";
import { loadDriver } from "../../../adapters/postgres/private.ts";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { commands } from "./commands.ts";

const certificate = (name: string): string => join(import.meta.dirname, "certificates", name);
const read = (name: string): string => readFileSync(certificate(name), "utf8");

const plain = await startPostgres();
// It belongs to no server: it waits for the messages of a primary, and answers meanwhile.
const standby = await startPostgres({ files: { "standby.signal": "" } });
const recovery = Statement.find("select pg_is_in_recovery() as is_standby", { row: { is_standby: Type.bool } });
const session = Statement.find("select pg_backend_pid() as pid", { row: { pid: Type.int } });
const secure = await startPostgres({
  settings: { ssl: "on", ssl_ca_file: "root.crt" },
  files: { "server.crt": read("server.crt"), "server.key": read("server.key"), "root.crt": read("authority.crt") },
  access: [
    "host all postgres 127.0.0.1/32 trust",
    "local all all trust",
    "hostssl all certified 127.0.0.1/32 cert",
    "host all secret,prepared 127.0.0.1/32 scram-sha-256",
  ],
});
await observer(secure).unsafe(`create role certified login; create role secret login password 'pässword: @/?#'`);
// The server keeps it in another form: with "ä" as one character, a plain space, and "m2".
const decomposed = "pa\u0308ss\u00a0m²";
await observer(secure).unsafe(`create role prepared login password '${decomposed}'`);
await observer(plain)`create role few login connection limit 0`;

const silent = createServer(() => {}).listen(0, "127.0.0.1");
await once(silent, "listening");
afterAll(() => silent.close());
const silence = (silent.address() as AddressInfo).port;

const at = (rest: string): string => `port=${secure.port} dbname=postgres ${rest}`;
const trusting = `user=postgres sslrootcert=${certificate("authority.crt")}`;
const keyed = `sslcert=${certificate("client.crt")} sslkey=${certificate("client.key")}`;
const password = encodeURIComponent("pässword: @/?#");
const folder = encodeURIComponent(plain.directory);

const encrypted = "postgres, encrypted";
/** The result of each target, on every runtime: a role, or the reason of the failure. */
const rows: readonly (readonly [what: string, target: string, answer: string | RegExp])[] = [
  ["no encryption", at("host=127.0.0.1 user=postgres sslmode=disable"), "postgres"],
  ["encryption where there is some", at("host=127.0.0.1 user=postgres"), encrypted],
  ["encryption where there is none", plain.url(), "postgres"],
  ["encryption, or nothing", at("host=127.0.0.1 user=postgres sslmode=require"), encrypted],
  ["encryption, where there is none", `${plain.url()}?sslmode=require`, /the server does not encrypt/],
  ["a server that an authority vouches for", at(`host=localhost ${trusting} sslmode=verify-full`), encrypted],
  ["a server of another name", at(`host=127.0.0.1 ${trusting} sslmode=verify-full`), /nothing was done/],
  ["a server of any name", at(`host=127.0.0.1 ${trusting} sslmode=verify-ca`), encrypted],
  [
    "a server that a stranger vouches for",
    at(`host=localhost user=postgres sslmode=verify-full sslrootcert=${certificate("stranger.crt")}`),
    /nothing was done/,
  ],
  ["a server that nobody known vouches for", at("host=localhost user=postgres sslrootcert=system"), /nothing was done/],
  ["a certificate of the client's", at(`host=127.0.0.1 user=certified ${keyed}`), "certified, encrypted"],
  ["no certificate of the client's", at("host=127.0.0.1 user=certified"), /FATAL 28000/],
  ["a password", `postgres://secret:${password}@127.0.0.1:${secure.port}/postgres`, "secret, encrypted"],
  ["a wrong password", `postgres://secret:wr0ng@127.0.0.1:${secure.port}/postgres`, /^(?!.*wr0ng).*FATAL 28P01/],
  [
    "a password that SCRAM prepares",
    `postgres://prepared:${encodeURIComponent(decomposed)}@127.0.0.1:${secure.port}/postgres`,
    "prepared, encrypted",
  ],
  [
    "a password, bound to the channel",
    `postgres://secret:${password}@127.0.0.1:${secure.port}/postgres?sslmode=require&channel_binding=require`,
    "secret, encrypted",
  ],
  [
    "a password that is to be bound to a channel that there is not",
    `postgres://secret:${password}@127.0.0.1:${secure.port}/postgres?sslmode=disable&channel_binding=require`,
    /channel_binding is require, and the connection has no certificate to bind to/,
  ],
  [
    "a password, bound to nothing",
    `postgres://secret:${password}@127.0.0.1:${secure.port}/postgres?channel_binding=disable`,
    "secret, encrypted",
  ],
  [
    "trust, where a channel is to be bound",
    `${plain.url()}?channel_binding=require`,
    /asks to sign in by the method none/,
  ],
  ["trust, where a password is to be asked for", `${plain.url()}?require_auth=scram-sha-256`, /by the method none/],
  ["trust, which is allowed", `${plain.url()}?require_auth=none`, "postgres"],
  [
    "encryption from the first byte",
    at("host=127.0.0.1 user=postgres sslmode=require sslnegotiation=direct"),
    encrypted,
  ],
  ["a version of TLS", at("host=127.0.0.1 user=postgres sslmode=require ssl_min_protocol_version=TLSv1.3"), encrypted],
  [
    "an address for a name that is checked",
    at(`host=localhost hostaddr=127.0.0.1 ${trusting} sslmode=verify-full`),
    encrypted,
  ],
  ["no password", `postgres://secret@127.0.0.1:${secure.port}/postgres`, /nothing was done/],
  ["a Unix socket", `host=${plain.directory} port=${plain.port} user=postgres`, "postgres"],
  ["a Unix socket in a URL", `postgres://postgres@${folder}:${plain.port}/postgres`, "postgres"],
  ["a Unix socket behind a URL", `postgres://postgres@/postgres?host=${folder}&port=${plain.port}`, "postgres"],
  ["a host that refuses, and one", `postgres://postgres@127.0.0.1:1,127.0.0.1:${plain.port}/postgres`, "postgres"],
  [
    "a host that says nothing, and one",
    `postgres://postgres@127.0.0.1:${silence},127.0.0.1:${plain.port}/postgres?connect_timeout=1`,
    "postgres",
  ],
  ["a bound that is longer than a timer's", `${plain.url()}?connect_timeout=9999999`, "postgres"],
  ["hosts that all refuse", "host=127.0.0.1,127.0.0.1 port=1,2 user=a", /ECONNREFUSED.*; .*ECONNREFUSED/],
  ["a host there is not", "host=no-such-host.invalid user=a", /nothing was done: .*(ENOTFOUND|EAI_AGAIN)/],
  ["a database there is not", `${plain.url("nowhere")}?host=127.0.0.1,127.0.0.1`, /^(?!.*;).*FATAL 3D000/],
  ["a role that may not connect more", plain.url().replace("postgres@", "few@"), /FATAL 53300/],
  ["the server that may be written to", `${plain.url()}?target_session_attrs=read-write`, "postgres"],
  ["the primary", `${plain.url()}?target_session_attrs=primary`, "postgres"],
  ["a standby", `${plain.url()}?target_session_attrs=standby`, /the server is not standby/],
  ["a setting there is not", `${plain.url()}?options=-c%20nothing=1`, /FATAL 42704/],
  ["a setting", `${plain.url()}?options=-c%20role%3Dnone&application_name=a%20b`, "postgres"],
];

describe.each(commands)("on %s", (_, command) => {
  const results = answersOf(command());
  it.each(rows.map(([what, , answer], row) => ({ what, answer, row })))("$what", async ({ answer, row }) => {
    const result = (await results)[row];
    if (typeof answer === "string") expect(result).toBe(answer);
    else expect(result).toMatch(answer);
  });
});

describe("with a primary and a standby", () => {
  const hosts = `127.0.0.1:${plain.port},127.0.0.1:${standby.port}`;
  it.each([
    ["any", hosts, false],
    ["primary", hosts, false],
    ["read-write", hosts, false],
    ["standby", hosts, true],
    ["read-only", hosts, true],
    ["prefer-standby", hosts, true],
    ["prefer-standby", `127.0.0.1:${plain.port}`, false],
    ["prefer-standby", `127.0.0.1:1,127.0.0.1:${plain.port}`, false],
  ])("%s of %s is the one that the option names", async (kind, hosts, isStandby) => {
    // Without a limit: a slow server is not skipped.
    const options = `target_session_attrs=${kind}&connect_timeout=0`;
    const pool = await Pool.create(`postgres://postgres@${hosts}/postgres?${options}`, { size: 1 });
    onTestFinished(() => pool.close());
    expect(await pool.exec(recovery)).toEqual({ is_standby: isStandby });
    const pid = await pool.use((db) => db.exec(session));
    expect(await pool.transaction((db) => db.exec(session))).toEqual(pid);
    expect(pool.stats()).toMatchObject({ idle: 1, replaced: 0 });
  });

  it("without a match, each is reported once", async () => {
    const primary = `postgres://postgres@127.0.0.1:1,127.0.0.1:${plain.port}/postgres`;
    await expect(Pool.create(`${primary}?target_session_attrs=read-only`)).rejects.toThrow(
      /ECONNREFUSED.*; the server/,
    );
    const nobody = "postgres://postgres@127.0.0.1:1/postgres?target_session_attrs=prefer-standby";
    await expect(Pool.create(nobody)).rejects.toThrow(/^(?!.*ECONNREFUSED.*ECONNREFUSED).*ECONNREFUSED/);
  });
});

async function answersOf([file = "", ...rest]: readonly string[]): Promise<readonly string[]> {
  const targets = JSON.stringify(rows.map(([, target]) => target));
  // The environment variables of other drivers are not read.
  const env = { ...process.env, PGPASSWORD: "from elsewhere", PGHOST: "elsewhere.invalid", PGUSER: "nobody" };
  const child = spawn(file, [...rest, join(import.meta.dirname, "connecting.ts"), targets], { env });
  const [said, complained] = [text(child.stdout), text(child.stderr)];
  await once(child, "exit");
  const line = (await said).split("\n").find((line) => line.startsWith("["));
  if (line === undefined) throw new Error(await complained);
  return JSON.parse(line) as readonly string[];
}

it("a connection whose session cannot be set up is closed", async () => {
  let closed = 0;
  const driver = await loadDriver("connecting.test");
  const options = { driver, parameters: {}, session: "select 1/0", statementCache: 8 };
  const opening = openConnection(parse(plain.url()), options, { closed: () => closed++ });
  await expect(opening).rejects.toMatchObject({ reason: { kind: "unreachable", why: "ERROR 22012" } });
  expect(closed).toBe(1);
});
