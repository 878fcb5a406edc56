/** Passwords: from a function for each connection, by each way to sign in, and bound to the channel of TLS. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { TLSSocket, connect as connectTls } from "node:tls";
import { describe, expect, it, onTestFinished } from "vitest";
import { Conninfo, Pool, Statement, Type, migrate, relay } from "usher-http/postgres";
import { logged } from "../../support/logs.ts";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { endSelf, failure } from "./failing-server.ts";
import { eventually } from "./pools.ts";

const read = (name: string): string => readFileSync(join(import.meta.dirname, "certificates", name), "utf8");
const token = "t0p-s3cr3t-token";
const server = await startPostgres({
  settings: { ssl: "on" },
  files: { "server.crt": read("server.crt"), "server.key": read("server.key") },
  access: [
    "local all all trust",
    "host all postgres 127.0.0.1/32 trust",
    "host all scrambled 127.0.0.1/32 scram-sha-256",
    "host all hashed 127.0.0.1/32 md5",
    "host all clear 127.0.0.1/32 password",
  ],
});
await observer(server).unsafe(`
  create role scrambled login password '${token}';
  create role clear login password '${token}';
  set password_encryption = 'md5';
  create role hashed login password '${token}';
`);

const whoAmI = Statement.find("select current_user::text as name", { row: { name: Type.text } });
const roles = ["scrambled", "hashed", "clear"] as const;

function target(user: string, password: Conninfo.Password, rest = ""): Conninfo {
  return Conninfo.withPassword(
    Conninfo.parse(`postgres://${user}@127.0.0.1:${server.port}/postgres?${rest}`),
    password,
  );
}

describe("a password of a function", () => {
  it.each(roles)("is asked for once for each connection: %s", async (user) => {
    let asked = 0;
    const pool = await Pool.create(
      target(user, async () => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        asked++;
        return token;
      }),
      { size: 2 },
    );
    onTestFinished(() => pool.close());
    expect(await pool.exec(whoAmI)).toEqual({ name: user });
    expect(asked).toBe(2);
    await failure(pool.exec(endSelf));
    await eventually(() => pool.stats().replaced).toBe(1);
    expect(asked).toBe(3);
  });

  it("may give it at once, also for a relay and for migrations", async () => {
    const pool = await Pool.create(
      target("scrambled", () => token),
      { size: 1 },
    );
    expect(await pool.exec(whoAmI)).toEqual({ name: "scrambled" });
    await pool.close();
    expect(
      await failure(
        migrate(
          target("scrambled", () => "wrong"),
          { directory: import.meta.dirname },
        ),
      ),
    ).toMatchObject({
      kind: "unsent",
    });
    expect(
      await failure(
        relay(
          target("scrambled", () => "wrong"),
          { channel: "a" },
        ),
      ),
    ).toMatchObject({ kind: "unsent" });
  });

  it.each<[what: string, password: () => string | Promise<string>, why: RegExp]>([
    [
      "that throws",
      () => {
        throw new TypeError(`no such account: ${token}`);
      },
      /the function for the password failed: TypeError$/,
    ],
    ["that rejects", () => Promise.reject(new RangeError(token)), /the function for the password failed: RangeError$/],
    ["that throws a text", () => Promise.reject(token), /the function for the password failed: string$/],
    [
      "that gives no text",
      () => undefined as unknown as string,
      /the function for the password gave no text, but undefined$/,
    ],
    ["that gives a wrong one", () => `${token}!`, /FATAL 28P01/],
  ])("%s is an error without the token", async (_what, password, why) => {
    const thrown = await failure(Pool.create(target("scrambled", password), { size: 1 }));
    expect(thrown).toMatchObject({ kind: "unsent", detail: expect.stringMatching(why) });
    expect(JSON.stringify([thrown, logged()])).not.toContain(token);
  });

  it("that does not settle is given up within the bound of the connection", async () => {
    const never = target("scrambled", () => new Promise<string>(() => {}), "connect_timeout=1");
    const thrown = await failure(Pool.create(never, { size: 1 }));
    expect(thrown).toMatchObject({ kind: "unsent", detail: expect.stringContaining("no connection within 1000 ms") });
  });

  it("that fails later leaves a pool that recovers", async () => {
    let fails = false;
    const pool = await Pool.create(
      target("scrambled", () => {
        if (fails) throw new Error(token);
        return token;
      }),
      { size: 1 },
    );
    onTestFinished(() => pool.close());
    fails = true;
    await failure(pool.exec(endSelf));
    await eventually(() => failure(pool.exec(whoAmI))).toMatchObject({ kind: "unsent" });
    fails = false;
    await eventually(() => failure(pool.exec(whoAmI))).toBe("nothing was thrown");
    expect(JSON.stringify(logged())).not.toContain(token);
  });
});

describe("require_auth", () => {
  const methods = { scrambled: "scram-sha-256", hashed: "md5", clear: "password" } as const;
  it.each(roles)("allows the method that it names, and no other: %s", async (user) => {
    const of = (word: string): Conninfo => target(user, token, `require_auth=${word}`);
    const pool = await Pool.create(of(methods[user]), { size: 1 });
    await pool.close();
    for (const word of Object.values(methods).filter((method) => method !== methods[user]))
      expect(await failure(Pool.create(of(word), { size: 1 }))).toMatchObject({
        kind: "unsent",
        detail: expect.stringContaining(`by the method ${methods[user]}, which the connection string does not allow`),
      });
  });
});

/** Ends the encryption of a client with another certificate, and carries what it says to the server by TLS. */
async function between(): Promise<number> {
  const sockets: Socket[] = [];
  const request = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
  const carry = async (client: Socket): Promise<void> => {
    sockets.push(client.on("error", () => {}));
    await once(client, "data");
    client.write("S");
    const [key, cert] = [read("client.key"), read("client.crt")];
    const inner = new TLSSocket(client, { isServer: true, key, cert }).on("error", () => {});
    const raw = connect(server.port, "127.0.0.1").on("error", () => {});
    sockets.push(raw);
    raw.write(request);
    await once(raw, "data");
    const outer = connectTls({ socket: raw, rejectUnauthorized: false, ALPNProtocols: ["postgresql"] }).on(
      "error",
      () => {},
    );
    inner.pipe(outer).pipe(inner);
  };
  const listening = createServer((client) => void carry(client)).listen(0, "127.0.0.1");
  await once(listening, "listening");
  onTestFinished(() => {
    listening.close();
    for (const socket of sockets) socket.destroy();
  });
  return (listening.address() as AddressInfo).port;
}

describe("channel binding, with someone between who has another certificate", () => {
  it.each([
    ["disable", "nothing was thrown"],
    // The server offers it, so it knows that its certificate is another one.
    ["prefer", { kind: "unsent", detail: expect.stringContaining("FATAL 28000") }],
    ["require", { kind: "unsent", detail: expect.stringContaining("FATAL 28000") }],
  ])("%s", async (binding, expected) => {
    const port = await between();
    const url = `postgres://scrambled:${token}@127.0.0.1:${port}/postgres?sslmode=require&channel_binding=${binding}`;
    const opened = Pool.create(url, { size: 1 }).then((pool) => pool.close());
    expect(await failure(opened)).toEqual(expected);
  });
});
