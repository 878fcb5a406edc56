-- As SessionTable.schema({ table: "sessions" }) has it.
create table "sessions" (
  digest text primary key,
  data text not null,
  created_at timestamptz not null,
  seen_at timestamptz not null,
  expires_at timestamptz not null
);
create index "sessions_expires_at" on "sessions" (expires_at);
comment on table "sessions" is 'Sign-in sessions.';
comment on column "sessions".digest is 'SHA-256 of the session id, which only the browser holds.';
comment on column "sessions".seen_at is 'When the session was last used, to a tenth of its idle time-out.';
comment on column "sessions".expires_at is 'When the session expires.';
