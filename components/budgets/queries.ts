/*
 * The queries of the budgets page, in the mode that the page shows. The page and its parts use the same functions, because a
 * part that suspends on a query the page has not read cannot be rendered on the server.
 */

/** The budgets router's input for the alerts of a project. */
export const alertsQuery = (projectId: string, isTest: boolean) => ({ project_id: projectId, test: isTest });

/** The budgets router's input for the reservations of one state. */
export const holdsQuery = (projectId: string, isTest: boolean, state: "open" | "ambiguous") => ({
  projectId,
  test: isTest,
  state,
});
