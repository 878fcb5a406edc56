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
comment on column "sessions".digest is 'The SHA-256 of an id that only its browser holds.';
comment on column "sessions".seen_at is 'When it was last used, to a tenth of how long it may be left alone.';
comment on column "sessions".expires_at is 'From then on it is nobody''s.';
