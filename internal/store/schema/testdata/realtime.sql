-- Vendored, don't edit: the parts of Supabase Realtime's schema that a broadcast from the database needs, from
-- github.com/supabase/realtime, priv/repo/tenant_schema/realtime, at 833cf36c; Apache License 2.0. In front of it the roles
-- that it names, behind it the partition and the publication that its server makes.
do $$ declare r text; begin
  foreach r in array array['anon', 'authenticated', 'service_role', 'supabase_admin', 'supabase_realtime_admin'] loop
    if not exists (select from pg_roles where rolname = r) then execute format('create role %I', r); end if;
  end loop;
end $$;

-- schema.sql
create schema "realtime" authorization "supabase_admin";

grant usage on schema "realtime" to "anon", "authenticated", "service_role";

revoke all on schema "realtime" from "supabase_realtime_admin";

grant create, usage on schema "realtime" to "supabase_realtime_admin" with grant option;

-- tables/messages.sql
create table "realtime"."messages" (
  "topic"          text                        not null,
  "extension"      text                        not null,
  "payload"        jsonb,
  "event"          text,
  "private"        boolean,
  "updated_at"     timestamp without time zone not null,
  "inserted_at"    timestamp without time zone not null,
  "id"             uuid                        not null,
  "binary_payload" bytea
) partition by range (inserted_at);

alter table "realtime"."messages"
  enable row level security;

alter table "realtime"."messages"
  owner to "supabase_realtime_admin";

alter table "realtime"."messages"
  alter column "id" set default gen_random_uuid();

alter table "realtime"."messages"
  alter column "inserted_at" set default now();

alter table "realtime"."messages"
  alter column "private" set default false;

alter table "realtime"."messages"
  alter column "updated_at" set default now();

alter table "realtime"."messages"
  add constraint "messages_payload_exclusive" check (((payload IS NULL) OR (binary_payload IS NULL))) not valid;

alter table "realtime"."messages"
  add constraint "messages_pkey" primary key (id, inserted_at);

create index messages_inserted_at_topic_index on only realtime.messages using btree (inserted_at desc, topic)
  where ((extension = 'broadcast'::text) AND (private is TRUE));

grant insert, select, update on table "realtime"."messages" to "anon", "authenticated", "service_role";

-- functions/send.sql
create or replace function realtime.send (
  payload jsonb,
  event   text,
  topic   text,
  private boolean default true
)
  returns void
  language plpgsql
  AS $function$
DECLARE
  generated_id uuid;
  final_payload jsonb;
BEGIN
  BEGIN
    generated_id := gen_random_uuid();

    -- Check if payload has an 'id' key, if not, add the generated UUID
    IF payload ? 'id' THEN
      final_payload := payload;
    ELSE
      final_payload := jsonb_set(payload, '{id}', to_jsonb(generated_id));
    END IF;

    -- Set the topic configuration
    EXECUTE format('SET LOCAL realtime.topic TO %L', topic);

    INSERT INTO realtime.messages (id, payload, event, topic, private, extension)
    VALUES (generated_id, final_payload, event, topic, private, 'broadcast');
  EXCEPTION
    WHEN OTHERS THEN
      RAISE WARNING 'WarnSendingBroadcastMessage: %', SQLERRM;
  END;
END;
$function$;

alter function "realtime"."send"(jsonb, text, text, boolean) owner to "supabase_realtime_admin";

-- functions/topic.sql
create or replace function realtime.topic()
  returns text
  language sql
  stable
  AS $function$
select nullif(current_setting('realtime.topic', true), '')::text;
$function$;

alter function "realtime"."topic"() owner to "supabase_realtime_admin";

create table realtime.messages_all partition of realtime.messages default;
create publication supabase_realtime_messages_publication for table realtime.messages;
