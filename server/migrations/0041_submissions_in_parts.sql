-- Submissions in parts, and files that answer a question of the operator.
--
-- A submission may begin with files, before anything names the fiat whose form is meant: the form follows the parts. Which form it is
-- decides what is missing, and whether a verification elsewhere closes the submission.

set search_path = cloverleaf;

grant update (form_id) on submissions to cloverleaf_partner;

-- A file belongs to a submission, or to a question: for what a question asks, a form has no place.
alter table submission_files alter column submission_id drop not null;
alter table submission_files add column information_request_id bigint references information_requests (id);
alter table submission_files add check (num_nonnulls(submission_id, information_request_id) = 1);
create index submission_files_request on submission_files (information_request_id)
  where information_request_id is not null;
grant insert (information_request_id) on submission_files to cloverleaf_partner;
