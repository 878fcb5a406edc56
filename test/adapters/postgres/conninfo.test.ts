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
    ["user=a fallback_application_name=b", { parameters: { application_name: "b" } }],
    ["user=a fallback_application_name=b application_name=c", { parameters: { application_name: "c" } }],
    ["user=a host=db.example hostaddr=10.0.0.1", { hosts: [{ host: "db.example", port: 5432, address: "10.0.0.1" }] }],
    ["user=a hostaddr=::1 port=6432", { hosts: [{ host: "::1", port: 6432, address: "::1" }] }],
    ["user=a load_balance_hosts=random", { balancesLoad: true }],
    ["user=a load_balance_hosts=disable", { balancesLoad: false }],
    ["postgres://a@h?sslmode=require&channel_binding=require", { tls: { mode: "require" }, channelBinding: "require" }],
    ["user=a channel_binding=disable", { channelBinding: "disable" }],
    ["user=a require_auth=scram-sha-256", { methods: ["scram-sha-256"] }],
    ["user=a require_auth=md5,gss,scram-sha-256", { methods: ["md5", "scram-sha-256"] }],
    ["user=a require_auth=!password,!none", { methods: ["md5", "scram-sha-256"] }],
    ["postgres://a@h?ssl=true", { tls: { mode: "require" } }],
    ["user=a sslmode=allow", { tls: { mode: "prefer" } }],
    ["user=a sslmode=require sslnegotiation=direct", { tls: { mode: "require", isDirect: true } }],
    ["user=a sslkey=/k sslpassword=p", { tls: { mode: "prefer", key: "/k", keyPassword: "p" } }],
    ["user=a sslmode=verify-full sslcrl=/r", { tls: { mode: "verify-full", revoked: "/r" } }],
    [
      "user=a ssl_min_protocol_version=TLSv1.2 ssl_max_protocol_version=TLSv1.3",
      { tls: { mode: "prefer", minVersion: "TLSv1.2", maxVersion: "TLSv1.3" } },
    ],
    // They change nothing.
    [
      "user=a client_encoding=UTF8 gssencmode=prefer krbsrvname=postgres sslcompression=0 sslsni=1 sslcertmode=allow",
      base,
    ],
    ["user=a keepalives=1 keepalives_idle=30 keepalives_interval=10 keepalives_count=3 tcp_user_timeout=0", base],
    [
      "user=a replication=false min_protocol_version=3.0 max_protocol_version=latest gsslib=gssapi gssdelegation=0",
      base,
    ],
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
    // What they ask for would not be done.
    ...["gssencmode=require", "client_encoding=LATIN1", "sslcertmode=require", "sslsni=0", "replication=database"].map(
      (one) => [`user=a password=secret ${one}`, `${one.split("=")[0]} has a value that is not supported`] as const,
    ),
    ...[
      "sslcrldir=/d",
      "requirepeer=a",
      "service=a",
      "passfile=/p",
      "sslkeylogfile=/k",
      "min_protocol_version=3.2",
    ].map((one) => [`user=a password=secret ${one}`, `${one.split("=")[0]}`] as const),
    ["user=a password=secret channel_binding=maybe", "channel_binding must be one of disable, prefer, require"],
    ["user=a password=secret require_auth=tls", "require_auth must be a list of none, password, md5, scram-sha-256"],
    ["user=a password=secret require_auth=md5,!none", "require_auth must be a list of"],
    ["user=a password=secret sslnegotiation=direct", "sslmode must be require or more where sslnegotiation is direct"],
    ["user=a password=secret host=a,b hostaddr=10.0.0.1", "one hostaddr for each host"],
    ["user=a password=secret hostaddr=db.example", "hostaddr must be an IP address"],
    ["user=a password=secret ssl_min_protocol_version=SSLv3", "ssl_min_protocol_version must be one of TLSv1, TLSv1.1"],
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

it("another password is another target", () => {
  const target = Conninfo.parse("user=a");
  const given = (): string => "token";
  expect(Conninfo.withPassword(target, given)).toEqual({ ...target, password: given });
  expect(target.password).toBeUndefined();
  // @ts-expect-error A number is no password, and its error does not quote it.
  expect(() => Conninfo.withPassword(target, 12_345)).toThrow(
    /^(?!.*12345).*password is a number, and not a text or a function$/,
  );
});

it("another limit is another target", () => {
  const target = Conninfo.parse("user=a");
  expect(Conninfo.withConnectTimeout(target, 250)).toEqual({ ...target, connectTimeoutMs: 250 });
  expect(target.connectTimeoutMs).toBeUndefined();
});
