-- What a hit of a model's vectors is worth, whatever else was found.

-- aw_worth is from 0 to 1: one minus the chance to be wrong both by words (BM25 as a part of what all words give; null:
-- it is not known, only whether there are any) and by meaning (the square of the cosine, because
-- texts about different things have small ones, and not zero). Of a question with a phrase or OR, what has all that it asks for is worth one half at least.
create or replace function {{ .schema }}.aw_worth(
  words double precision, similarity double precision, matched boolean, complete boolean, structured boolean)
returns double precision
language sql immutable parallel safe
return (1 - case when words is not null then exp(-words) when complete then 0.5 when matched then 0.75 else 1 end
            * (1 - least(greatest(similarity, 0), 1) ^ 2) + (structured and complete)::int)
       / case when structured then 2 else 1 end;
