import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Conninfo } from "usher-http/postgres";

const localhost = [{ host: "localhost", port: 5432 }];
const base = { hosts: localhost, database: "a", user: "a", tls: { mode: "prefer" }, session: "any", parameters: {} };

describe("a connection string: read", () => {
  const rows: readonly (readonly [string, object])[] = [
    ["postgres://a@localhost/a", base],
    ["postgresql://a@localhost", base],
    ["postgres://a@", base],
    ["user=a", base],
    ["  user = a   dbname='a'  ", base],
    ["user=a host=", base],
    ["user=a host=h host=''", base],
    ["postgres://a@db.example:6432/orders", { hosts: [{ host: "db.example", port: 6432 }], database: "orders" }],
    ["postgres://a@[::1]:6432", { hosts: [{ host: "::1", port: 6432 }] }],
    ["postgres://a%40b:p%3Aw%2F%23@h/d%20b", { user: "a@b", password: "p:w/#", database: "d b" }],
    ["postgres://a:b:c@h", { password: "b:c" }],
    ["postgres://a:@h", { hosts: [{ host: "h", port: 5432 }] }],
    ["user=a password='it\\'s' dbname=d\\ b", { password: "it's", database: "d b" }],
    [
      "postgres://h1,h2:6432/a?user=a",
      {
        hosts: [
          { host: "h1", port: 5432 },
          { host: "h2", port: 6432 },
        ],
      },
    ],
    [
      "host=h1,h2 port=6432 user=a",
      {
        hosts: [
          { host: "h1", port: 6432 },
          { host: "h2", port: 6432 },
        ],
      },
    ],
    [
      "host=h1,h2 port=1,2 user=a",
      {
        hosts: [
          { host: "h1", port: 1 },
          { host: "h2", port: 2 },
        ],
      },
    ],
    ["postgres://a@%2Frun%2Fpostgresql/a", { hosts: [{ host: "/run/postgresql", port: 5432 }] }],
    ["postgres:///a?host=/run/postgresql&user=a", { hosts: [{ host: "/run/postgresql", port: 5432 }] }],
    ["postgres://a@h?sslmode=verify-full&sslrootcert=/ca", { tls: { mode: "verify-full", rootCertificate: "/ca" } }],
    ["user=a sslrootcert=system", { tls: { mode: "verify-full", rootCertificate: "system" } }],
    ["user=a sslcert=/c sslkey=/k", { tls: { mode: "prefer", certificate: "/c", key: "/k" } }],
    ["postgres://a@h?connect_timeout=3", { connectTimeoutMs: 3000 }],
    ["postgres://a@h?connect_timeout=0", { connectTimeoutMs: 0 }],
    [
      "user=a application_name=b options='-c geqo=off'",
      { parameters: { application_name: "b", options: "-c geqo=off" } },
    ],
    ["user=a target_session_attrs=primary", { session: "primary" }],
  ];
  it.each(rows)("%s", (text, read) => {
    expect(Conninfo.parse(text)).toMatchObject(read);
  });
});

describe("a connection string: refused", () => {
  const wrong: readonly (readonly [string, string])[] = [
    ["", "the connection string is empty: write postgres://user@host/database"],
    ["  ", "the connection string is empty"],
    ["postgres://localhost/a", "has no user: write postgres://user@host/database"],
    ["mysql://a@h", "not a connection string"],
    ["user=a password='it''s secret'", "not a connection string"],
    ["user=a password='secret", "not a connection string"],
    ["user=a secret", "not a connection string"],
    ["postgres://a:secret@h/b/c?x#y", "not a connection string"],
    ["postgres://a:secret#@h/b", "percent-encode any other character: # is %23, @ is %40, / is %2F"],
    ["postgres://a:se@secret@h/b", "percent-encode any other character"],
    ["postgres://a:1?secret@h/b", "percent-encode any other character"],
    ["postgres://a:secret@h:65536", "from 1 to 65535"],
    ["postgres://a:secret@h:0", "from 1 to 65535"],
    ["postgres://a:secret@h?port=x", "the connection string's port must be a whole number"],
    ["postgres://a:secret@h?sslmode=on", "the connection string's sslmode must be one of disable, prefer"],
    [
      "user=a sslmode=require sslrootcert=system",
      "sslmode must be verify-full, not require, where sslrootcert is system",
    ],
    ["user=a sslmode=verify-ca sslrootcert=system", "sslmode must be verify-full, not verify-ca"],
    ["postgres://a:secret@h?sslmod=require", 'an unknown keyword "sslmod": it takes host, port, user, '],
    ["postgres://a:secret@h?connect_timeout=1.5", "the connection string's connect_timeout must be a whole number"],
    ["postgres://a:secret%@h", "the connection string's password is not percent-encoded"],
    ["host=h1,h2 port=1,2,3 user=a password=secret", "one port, or one for each host"],
    ["postgres://a:secret@h?target_session_attrs=any-of-them", "target_session_attrs must be one of any"],
  ];
  it.each(wrong)("%s is refused, without its password", (text, says) => {
    expect(() => Conninfo.parse(text)).toThrow(says);
    expect(() => Conninfo.parse(text)).not.toThrow("secret");
  });

  it("prints the values that were put in it", () => {
    const some = fc.string({ minLength: 1 }).filter((value) => value.isWellFormed() && !value.includes("\0"));
    const quoted = (value: string): string => `'${value.replace(/['\\]/g, "\\$&")}'`;
    fc.assert(
      fc.property(some, some, some, (user, password, database) => {
        const [u, p, d] = [user, password, database].map(encodeURIComponent);
        expect(Conninfo.parse(`postgres://${u}:${p}@h/${d}`)).toMatchObject({ user, password, database });
        const keywords = `user=${quoted(user)} password=${quoted(password)} dbname=${quoted(database)}`;
        expect(Conninfo.parse(keywords)).toMatchObject({ user, password, database });
      }),
    );
  });
});

it("another limit is another target", () => {
  const target = Conninfo.parse("user=a");
  expect(Conninfo.withConnectTimeout(target, 250)).toEqual({ ...target, connectTimeoutMs: 250 });
  expect(target.connectTimeoutMs).toBeUndefined();
});
