import type { Client, Schemas } from "../client";
import { plain, type Terminal, table, UsageError } from "./terminal";

type Project = Schemas["Project"];

/** The active projects in which this person may make a key, with the names of their organizations. */
export async function projectsOf(person: Client): Promise<[Project, string][]> {
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

/** The project that is named, the only one, or the one a person at a terminal chooses by its number. */
export async function chooseProject(
  terminal: Terminal,
  projects: [Project, string][],
  named: string | undefined,
): Promise<Project> {
  const [first, ...others] = projects.map(([project]) => project);
  if (!first)
    throw new UsageError(
      "There is no project in which you may make a key: make one in the panel, or ask an admin for the role of a member.",
    );
  if (named !== undefined) {
    const project = [first, ...others].find(({ id }) => id === named);
    if (project) return project;
    throw new UsageError(`You may make keys in no project ${named}. There are:\n${listed(projects)}`);
  }
  if (others.length === 0) return first;
  if (!terminal.ask)
    throw new UsageError(`There are several projects: name one with --project <id>.\n${listed(projects)}`);
  terminal.note(table(projects.map((each, at) => [`${at + 1}`.padStart(3), ...rowOf(each)])));
  for (;;) {
    const given = (await terminal.ask(`Project [1-${projects.length}]: `)).trim();
    const project = /^[1-9]\d*$/.test(given) ? projects[Number(given) - 1]?.[0] : undefined;
    if (project) return project;
    terminal.note(`${plain(given)} is none of the numbers.`);
  }
}

const rowOf = ([{ id, displayName }, organization]: [Project, string]) => [id, displayName, organization];
const listed = (projects: [Project, string][]) => table(projects.map((each) => ["", ...rowOf(each)]));
