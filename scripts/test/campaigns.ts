/** Test files with a long form, in testing/campaign.ts: `npm test` runs them short, `npm run test:long` whole. */
export const CAMPAIGNS = [
  "server/api/v1/envelope-fuzz.db.test.ts",
  "server/domain/requests/payment-fuzz.db.test.ts",
];
