-- Polls by account, which take turns, and polls under way.

CREATE INDEX gateway_state_by_turn ON gateway_state (account_id, next_poll) WHERE next_poll IS NOT NULL;
CREATE INDEX gateway_state_by_lease ON gateway_state (lease_until) WHERE lease_until IS NOT NULL;
