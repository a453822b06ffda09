-- The ledger stands outside the worker: triggers write down every committed move of a job, every activated
-- version, derived file, deck, dead letter and webhook, in the transaction that makes it. The worker can't see or change
-- it.
create schema prove;
create table prove.ledger (
  n         bigint generated always as identity primary key,
  client_id text        not null,
  job_id    text        not null,
  what      text        not null, -- move, version, derived, deck, dead_letter, webhook
  was       text,
  now       text,
  fence     bigint,
  attempts  integer,
  series    integer,
  txid      xid8        not null default pg_current_xact_id(),
  at        timestamptz not null default clock_timestamp()
);
create index on prove.ledger (client_id, job_id);

create function prove.write(client text, job text, what text, was text, now text, fence bigint, attempts integer, series integer)
returns void language sql security definer set search_path = pg_catalog as $$
  insert into prove.ledger (client_id, job_id, what, was, now, fence, attempts, series)
  values (client, job, what, was, now, fence, attempts, series);
$$;

create function prove.job() returns trigger language plpgsql security definer set search_path = pg_catalog as $$
begin
  if tg_op = 'INSERT' then
    perform prove.write(new.client_id, new.id, 'move', null, new.status, new.fence, new.attempts, new.series);
  elsif new.status is distinct from old.status or new.fence is distinct from old.fence then
    perform prove.write(new.client_id, new.id, 'move', old.status, new.status, new.fence, new.attempts, new.series);
  end if;
  if tg_op = 'UPDATE' and not old.placeholder and new.fingerprint is distinct from old.fingerprint then
    perform prove.write(new.client_id, new.id, 'fingerprint', old.fingerprint, new.fingerprint, new.fence, new.attempts, new.series);
  end if;
  return null;
end $$;
create trigger prove_ledger after insert or update on public.jobs for each row execute function prove.job();

create function prove.version() returns trigger language plpgsql security definer set search_path = pg_catalog as $$
begin
  if new.status = 'active' and (tg_op = 'INSERT' or old.status <> 'active') then
    perform prove.write(new.client_id, new.job_id, 'version', null, new.document_id || '/' || new.version, null, null, null);
  end if;
  return null;
end $$;
create trigger prove_ledger after insert or update on public.document_versions for each row execute function prove.version();

create function prove.derived() returns trigger language plpgsql security definer set search_path = pg_catalog as $$
begin
  perform prove.write(new.client_id, new.job_id, 'derived', null, new.blob, null, null, null);
  return null;
end $$;
create trigger prove_ledger after insert on public.derived_contents for each row execute function prove.derived();

create function prove.deck() returns trigger language plpgsql security definer set search_path = pg_catalog as $$
begin
  perform prove.write(new.client_id, new.job_id, 'deck', null, new.id::text, null, null, null);
  return null;
end $$;
create trigger prove_ledger after insert on public.decks for each row execute function prove.deck();

create function prove.letter() returns trigger language plpgsql security definer set search_path = pg_catalog as $$
begin
  perform prove.write(new.client_id, coalesce(new.job_id, ''), 'dead_letter', null, new.reason, null, new.attempts, new.series);
  return null;
end $$;
create trigger prove_ledger after insert on public.dead_letters for each row execute function prove.letter();

create function prove.webhook() returns trigger language plpgsql security definer set search_path = pg_catalog as $$
begin
  perform prove.write(new.client_id, coalesce(new.job_id, ''), 'webhook', null, new.event, null, null, null);
  return null;
end $$;
create trigger prove_ledger after insert on public.webhook_deliveries for each row execute function prove.webhook();
