/**
 * SQL: true for news about a person's own account, such as a changed password. It belongs to no organization, like the
 * operators' news, and every person may see their own.
 */
export const isOfAccount = (notification: string) => `starts_with(${notification}.kind, 'account.')`;

/** The kinds of such news. */
export type AccountNewsKind = `account.${string}`;
