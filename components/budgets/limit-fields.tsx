import { MoneyField } from "@/components/blocks/form/fields";

type Props = { limits: { dailyMicros: number | null; perExecutionMicros: number | null } };

/** The spending limits of accounts: per UTC day, and per execution. */
export const LimitFields = ({ limits: { dailyMicros, perExecutionMicros } }: Props) => (
  <>
    <MoneyField
      name="dailyMicros"
      label="Daily limit in US dollars"
      placeholder="No limit"
      micros={dailyMicros}
    />
    <MoneyField
      name="perExecutionMicros"
      label="Limit per execution in US dollars"
      placeholder="No limit"
      micros={perExecutionMicros}
    />
  </>
);
