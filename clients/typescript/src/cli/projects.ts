import type { Client } from "../client";
import type { Schemas } from "../core";
import { plain, type Terminal, table, UsageError } from "./terminal";

type Project = Schemas["Project"];

/** The active projects in which this person may create a key, with the names of their organizations. */
export async function projectsForKeys(person: Client): Promise<[Project, string][]> {
  const found: [Project, string][] = [];
  const { items: organizations } = await person.get("/v1/organizations");
  for (const { organizationId, displayName, role } of organizations) {
    if (role === "viewer") continue;
    const path = { organization_id: organizationId };
    const { items } = await person.get("/v1/organizations/{organization_id}/projects", { params: { path } });
    for (const project of items) if (project.status === "active") found.push([project, displayName]);
  }
  return found;
}

/** The named project, the only one, or the one that a person at a terminal chooses by its number. */
export async function chooseProject(
  terminal: Terminal,
  projects: [Project, string][],
  named: string | undefined,
): Promise<Project> {
  const [first, ...others] = projects.map(([project]) => project);
  if (!first)
    throw new UsageError(
      "You cannot create a key in any project. Create a project in the panel, or ask an admin for the role of member.",
    );
  if (named !== undefined) {
    const project = [first, ...others].find(({ id }) => id === named);
    if (project) return project;
    throw new UsageError(`You cannot create keys in a project ${named}. Your projects:\n${listed(projects)}`);
  }
  if (others.length === 0) return first;
  if (!terminal.ask)
    throw new UsageError(`You have several projects. Choose one with --project <id>:\n${listed(projects)}`);
  terminal.note(table(projects.map((each, at) => [`${at + 1}`.padStart(3), ...rowOf(each)])));
  for (;;) {
    const given = (await terminal.ask(`Project [1-${projects.length}]: `)).trim();
    const project = /^[1-9]\d*$/.test(given) ? projects[Number(given) - 1]?.[0] : undefined;
    if (project) return project;
    terminal.note(`${plain(given)} is not one of the numbers.`);
  }
}

const rowOf = ([{ id, displayName }, organization]: [Project, string]) => [id, displayName, organization];
const listed = (projects: [Project, string][]) => table(projects.map((each) => ["", ...rowOf(each)]));
