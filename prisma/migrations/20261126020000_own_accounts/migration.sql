-- What runs on an own provider account is not charged: days that were counted before say so too.
UPDATE usage_day SET charged_micros = 0, fee_micros = 0 WHERE billing_mode = 'byok';

-- What a person found out about a charge is a known cost: these days are counted once more. An item of a bulk reserves at its
-- turn, which may be a day after it was submitted.
UPDATE usage_counted counted SET is_closed = false
FROM hold WHERE hold.resolved_by IS NOT NULL AND hold.project_id = counted.project_id
  AND counted.day IN ((hold.created_at AT TIME ZONE 'UTC')::date, (hold.created_at AT TIME ZONE 'UTC')::date - 1);
