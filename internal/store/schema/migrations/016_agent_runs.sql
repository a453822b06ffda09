-- What an answer of the agent cost, who asked for it, and what it was allowed to read.
set local search_path = {{ .schema }}, extensions, public;

alter table agent_runs
  add column task_type         text,    -- agent or ai
  add column document_set      text,    -- that it could read; null: all of the client's, or none (ai)
  add column requested_by      text,    -- as the job says
  add column prompt_tokens     bigint,  -- as the provider billed them
  add column completion_tokens bigint,
  add column retrieval_only    boolean, -- passages that were found, without a model
  add column details           jsonb;   -- warnings, and what became of citations
