-- What a limit lets in is changed with the tasks that ask for it, or not at all. Where its row is locked just then, the
-- wish is written down as an effect, as all else that has to wait.
alter type millrace.effect_kind add value 'capacity';
