/**
 * Statements that reach rows of tenants which no parameter bounds, by their names and the tables, with the
 * reason. Only for work of the system over all tenants, and where the rows are bounded by a condition that
 * the law cannot follow.
 */
export const LOOSE: Readonly<Record<string, string>> = {
  "api_key.count.in_another_zone api_key": "the start corrects times of an older version, in every tenant",
  "artifact.find.sharing_content artifact":
    "asks before a file is removed whether any tenant stores the same bytes",
  "artifact.find.same_content artifact":
    "asks before a file is removed whether any tenant stores the same bytes",
  "artifact.list.due artifact": "a periodic task that removes what has ended, in every tenant",
  "audit_entry.list.subjects api_key": "a name is looked up by the id of the actor, beside the entry",
  "audit_entry.list.subjects audit_entry": "for operators, over every tenant",
  "backlog delivery": "the backlog of the whole installation, for operators and metrics",
  "backlog job": "the backlog of the whole installation, for operators and metrics",
  "backlog pinned_bulk": "the backlog of the whole installation, for operators and metrics",
  "backlog pinned_execution": "the backlog of the whole installation, for operators and metrics",
  "budget.list.policy budget": "by its scope, a word that names the organization, project or principal",
  "budget.read.ceiling budget": "by its scope, a word that names the organization, project or principal",
  "budget.read.guardrail budget": "by its scope, a word that names the organization, project or principal",
  "capability_request.count.queue capability_request":
    "an operator's queue of commissions, over every tenant",
  "capability_request.count.queue commission_quote": "an operator's queue of commissions, over every tenant",
  "capability_request.count.queue payment": "an operator's queue of commissions, over every tenant",
  "capability_request.count.queue payment_refund": "an operator's queue of commissions, over every tenant",
  "capability_request.list.newest capability_request":
    "an operator's queue of commissions, over every tenant",
  "capability_request.list.newest capability_request_revision":
    "an operator's queue of commissions, over every tenant",
  "capability_request.list.newest commission_quote": "an operator's queue of commissions, over every tenant",
  "capability_request.list.newest payment": "an operator's queue of commissions, over every tenant",
  "capability_request.list.newest payment_refund": "an operator's queue of commissions, over every tenant",
  "capability_request.list.newest project": "an operator's queue of commissions, over every tenant",
  "capability_request.list.oldest capability_request":
    "an operator's queue of commissions, over every tenant",
  "capability_request.list.oldest capability_request_revision":
    "an operator's queue of commissions, over every tenant",
  "capability_request.list.oldest commission_quote": "an operator's queue of commissions, over every tenant",
  "capability_request.list.oldest payment": "an operator's queue of commissions, over every tenant",
  "capability_request.list.oldest payment_refund": "an operator's queue of commissions, over every tenant",
  "capability_request.list.oldest project": "an operator's queue of commissions, over every tenant",
  "commission_quote.list.payable api_key": "a name is looked up by the id of its principal, outside a union",
  "corrected_time.list.keys api_key": "the start corrects times of an older version, in every tenant",
  "credential.list.other_vault_key credential":
    "the vault's work on everything that is sealed, in every tenant",
  "credential.list.sealed credential": "the vault's work on everything that is sealed, in every tenant",
  "database.probe api_key": "only asks whether the table is there",
  "embed_session.delete.unused panel_session": "a periodic task that removes what has ended, in every tenant",
  "embed_session.update.cleared panel_session":
    "a periodic task that removes what has ended, in every tenant",
  "embed_token.delete.ended panel_session": "a periodic task that removes what has ended, in every tenant",
  "endpoint.list.secrets delivery_endpoint": "the vault's work on everything that is sealed, in every tenant",
  "execution.find.first_after execution": "the count of usage, a periodic task over every tenant",
  "execution.list.pairs execution": "the count of usage, a periodic task over every tenant",
  "hold.list.resolved_since hold": "the count of usage, a periodic task over every tenant",
  "hold.list.resolved_since usage_counted": "the count of usage, a periodic task over every tenant",
  "job.list.needing_attention job": "an operator's list of jobs that need one, over every tenant",
  "job.list.needing_attention project": "an operator's list of jobs that need one, over every tenant",
  "job.list.waiting api_key": "a name is looked up by the id of its principal, outside a union",
  "ledger.check.holds ledger_entry": "an operator's check of the whole ledger",
  "ledger_transaction.read.last ledger_transaction": "by its account, a word that names the organization",
  "membership.lock.inviter membership":
    "a pair of columns is compared with the invitation that its token's hash finds",
  "notification.delete.old notification": "a periodic task that removes what has ended, in every tenant",
  "principal.list.names api_key": "a name is looked up by the id of its principal, outside a union",
  "restore_hold.count.bulks pinned_execution":
    "an operator's hold after a restore, over the whole installation",
  "restore_hold.count.deliveries delivery": "an operator's hold after a restore, over the whole installation",
  "restore_hold.count.jobs job": "an operator's hold after a restore, over the whole installation",
  "restore_hold.count.refunds payment_refund":
    "an operator's hold after a restore, over the whole installation",
  "restore_hold.save.all delivery": "an operator's hold after a restore, over the whole installation",
  "restore_hold.save.all job": "an operator's hold after a restore, over the whole installation",
  "restore_hold.save.all payment": "an operator's hold after a restore, over the whole installation",
  "restore_hold.save.all payment_refund": "an operator's hold after a restore, over the whole installation",
  "restore_hold.save.all pinned_bulk": "an operator's hold after a restore, over the whole installation",
  "restore_hold.save.all pinned_execution": "an operator's hold after a restore, over the whole installation",
  "sealed.count.delivery delivery": "the vault's work on everything that is sealed, in every tenant",
  "sealed.count.delivery_endpoint delivery_endpoint":
    "the vault's work on everything that is sealed, in every tenant",
  "sealed.count.event_text event_text": "the vault's work on everything that is sealed, in every tenant",
  "sealed.count.payload payload": "the vault's work on everything that is sealed, in every tenant",
  "sealed.count.stream_frame stream_frame": "the vault's work on everything that is sealed, in every tenant",
  "sealed.list.delivery delivery": "the vault's work on everything that is sealed, in every tenant",
  "sealed.list.delivery_after delivery": "the vault's work on everything that is sealed, in every tenant",
  "sealed.list.delivery_endpoint delivery_endpoint":
    "the vault's work on everything that is sealed, in every tenant",
  "sealed.list.delivery_endpoint_after delivery_endpoint":
    "the vault's work on everything that is sealed, in every tenant",
  "sealed.list.event_text event_text": "the vault's work on everything that is sealed, in every tenant",
  "sealed.list.event_text_after event_text": "the vault's work on everything that is sealed, in every tenant",
  "sealed.list.payload payload": "the vault's work on everything that is sealed, in every tenant",
  "sealed.list.payload_after payload": "the vault's work on everything that is sealed, in every tenant",
  "sealed.list.stream_frame stream_frame": "the vault's work on everything that is sealed, in every tenant",
  "sealed.list.stream_frame_after stream_frame":
    "the vault's work on everything that is sealed, in every tenant",
  "sealed.read.newest credential": "the vault's work on everything that is sealed, in every tenant",
  "sealed.read.newest delivery": "the vault's work on everything that is sealed, in every tenant",
  "sealed.read.newest delivery_endpoint": "the vault's work on everything that is sealed, in every tenant",
  "sealed.read.newest event_text": "the vault's work on everything that is sealed, in every tenant",
  "sealed.read.newest payload": "the vault's work on everything that is sealed, in every tenant",
  "sealed.read.newest stream_frame": "the vault's work on everything that is sealed, in every tenant",
  "usage_counted.list.open usage_counted": "the count of usage, a periodic task over every tenant",
  "usage_counted.read.last_day usage_counted": "the count of usage, a periodic task over every tenant",
};
