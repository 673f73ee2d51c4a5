// Explores a join graph: components first, then the tables of one, then the foreign keys of a table with their reasons.
// All names are set as text. The state is in the address after #, so that it can be shared and gone back from.
function dovetailExplorer(root, graph) {
  "use strict";
  const DRAWN = 300; // tables of a component that are drawn: more would be a ball of wool. All are listed.
  const LISTED = 500;
  const SVG = "http://www.w3.org/2000/svg";
  const tables = graph.tables, edges = graph.edges, components = graph.components;
  const number = new Map(tables.map((name, place) => [name, place]));
  const componentOf = new Map();
  components.forEach((members, place) => members.forEach((table) => componentOf.set(table, place)));
  const edgesOf = new Map();
  edges.forEach((edge, place) => {
    for (const end of new Set([edge.from, edge.to])) {
      if (!edgesOf.has(end)) edgesOf.set(end, []);
      edgesOf.get(end).push(place);
    }
  });
  const degree = (table) => (edgesOf.get(table) || []).length;

  function make(tag, text, parent, className) {
    const element = document.createElement(tag);
    if (text !== undefined && text !== null) element.textContent = text;
    if (className) element.className = className;
    if (parent) parent.appendChild(element);
    return element;
  }
  function draw(tag, attributes, parent) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    parent.appendChild(element);
    return element;
  }
  const short = (name, most) => (name.length > most ? "…" + name.slice(-most + 1) : name);
  const base = (name) => name.split("/").pop();
  function stem(name, most) {
    const text = base(name).replace(/\.\w+(\.gz)?$/, "");
    return text.length > most ? text.slice(0, most - 1) + "…" : text;
  }
  const plural = (n, noun) => n.toLocaleString("en") + " " + (n === 1 ? noun : noun.replace(/([^e])y$/, "$1ie") + "s");

  root.classList.add("dt-explorer");
  root.replaceChildren();
  const bar = make("div", null, root, "bar");
  const trail = make("nav", null, bar, "trail");
  trail.setAttribute("aria-label", "Where you are");
  const input = make("input", null, bar);
  input.type = "search";
  input.placeholder = "Find a table";
  input.setAttribute("aria-label", "Find a table");
  const svg = draw("svg", { role: "group", "aria-label": "Join graph" }, root);
  const list = make("div", null, root, "list");

  function button(text, action, parent) {
    const element = make("button", text, parent);
    element.type = "button";
    element.addEventListener("click", action);
    return element;
  }
  function activate(element, action) {
    element.setAttribute("tabindex", "0");
    element.setAttribute("role", "button");
    element.addEventListener("click", action);
    element.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); action(); }
    });
  }
  function size() {
    const box = svg.getBoundingClientRect();
    return [Math.max(box.width, 300), Math.max(box.height, 260)];
  }
  function go(state) {
    const text = new URLSearchParams(state).toString();
    if (location.hash.slice(1) === text) show(); else location.hash = text;
  }
  function bubble(x, y, r, label, title, action, chosen) {
    const circle = draw("circle", { cx: x, cy: y, r: r, "aria-label": title }, svg);
    if (chosen) circle.classList.add("chosen");
    draw("title", {}, circle).textContent = title;
    if (label) draw("text", { x: x, y: y + 4 }, svg).textContent = label;
    activate(circle, action);
  }

  // Circles on a spiral, each as near to the middle as the ones before allow: few steps, and the same every time.
  function packed(radii) {
    const placed = [];
    let start = 0;
    for (const r of radii) {
      for (let step = start; ; step++) {
        const angle = 0.35 * Math.sqrt(step) * 5, far = 1.6 * Math.sqrt(step) * 2;
        const x = far * Math.cos(angle), y = far * Math.sin(angle) * 0.7;
        if (placed.every((p) => (p.x - x) ** 2 + (p.y - y) ** 2 >= (p.r + r + 3) ** 2)) {
          placed.push({ x: x, y: y, r: r });
          start = Math.max(0, step - 200);
          break;
        }
      }
    }
    return placed;
  }
  function fit(points) {
    const [width, height] = size();
    const low = (axis) => Math.min(...points.map((p) => p[axis] - p.r)), high = (axis) => Math.max(...points.map((p) => p[axis] + p.r));
    const [left, right, top, bottom] = [low("x"), high("x"), low("y"), high("y")];
    const scale = Math.min((width - 90) / (right - left || 1), (height - 50) / (bottom - top || 1), 9);
    return points.map((p) => ({
      x: width / 2 + (p.x - (left + right) / 2) * scale, y: height / 2 + (p.y - (top + bottom) / 2) * scale, r: p.r * scale,
    }));
  }

  function showComponents() {
    const shown = components.slice(0, DRAWN);
    const points = fit(packed(shown.map((members) => 4 * Math.sqrt(members.length))));
    shown.forEach((members, place) => {
      const p = points[place], name = base(hubOf(members));
      const label = p.r > 24 ? stem(name, Math.max(4, Math.floor(p.r / 3.6))) : "";
      bubble(p.x, p.y, p.r, label, plural(members.length, "table") + " around " + name, () => go({ component: place }));
    });
    make("h2", plural(components.length, "component") + " of connected tables", list);
    const alone = tables.length - componentOf.size;
    make("p", plural(tables.length, "table") + ", " + plural(edges.length, graph.noun) + ". " +
      (alone ? plural(alone, "table") + " joined by none. " : "") + graph.note, list);
    if (graph.hubs.length) make("h2", "What most columns are about", list);
    graph.hubs.forEach((hub) => {
      const row = make("div", null, list, "edge");
      button(hub.column + " of " + base(hub.table), () => go({ table: hub.table }), row);
      make("p", plural(hub.columns, "column") + " of " + plural(hub.tables, "table"), row).style.margin = "0";
    });
    if (components.length) make("h2", "Connected tables", list).style.marginTop = "1rem";
    components.slice(0, LISTED).forEach((members, place) => {
      const row = make("div", null, list, "edge");
      button(plural(members.length, "table") + " around " + base(hubOf(members)), () => go({ component: place }), row);
    });
    if (!components.length) make("p", "No table refers to another. Lower the score that an edge must have.", list);
  }
  function hubOf(members) {
    return tables[members.reduce((best, each) => (degree(each) > degree(best) ? each : best), members[0])];
  }

  // Springs along edges, all tables apart from each other; as many rounds as a person waits for.
  function arranged(members, links) {
    const [width, height] = size();
    const points = members.map((table, place) => {
      const angle = place * 2.399963, far = 14 * Math.sqrt(place + 1);
      return { x: width / 2 + far * Math.cos(angle), y: height / 2 + far * Math.sin(angle), r: 6 + Math.min(10, Math.sqrt(degree(table))) };
    });
    const rest = Math.sqrt((width * height) / Math.max(members.length, 1)) * 0.6;
    const rounds = members.length > 150 ? 80 : 200;
    for (let round = 0; round < rounds; round++) {
      const heat = rest * (1 - round / rounds) * 0.25;
      const moves = points.map(() => [0, 0]);
      for (let a = 0; a < points.length; a++) {
        for (let b = a + 1; b < points.length; b++) {
          let dx = points[a].x - points[b].x, dy = points[a].y - points[b].y;
          const d2 = dx * dx + dy * dy + 0.01, push = (rest * rest) / d2;
          dx *= push; dy *= push;
          moves[a][0] += dx; moves[a][1] += dy; moves[b][0] -= dx; moves[b][1] -= dy;
        }
      }
      for (const [a, b] of links) {
        const dx = points[a].x - points[b].x, dy = points[a].y - points[b].y, d = Math.hypot(dx, dy) + 0.01, pull = d / rest;
        moves[a][0] -= dx * pull; moves[a][1] -= dy * pull; moves[b][0] += dx * pull; moves[b][1] += dy * pull;
      }
      points.forEach((p, place) => {
        const [dx, dy] = moves[place], d = Math.hypot(dx, dy) + 0.01, step = Math.min(d, heat);
        p.x += (dx / d) * step + (width / 2 - p.x) * 0.01; p.y += (dy / d) * step + (height / 2 - p.y) * 0.01;
      });
    }
    return fit(points).map((p, place) => ({ x: p.x, y: p.y, r: points[place].r }));
  }
  function drawTables(members, chosen) {
    const place = new Map(members.map((table, at) => [table, at]));
    const seen = new Set(), links = [];
    for (const table of members) for (const at of edgesOf.get(table) || []) {
      const { from, to } = edges[at], key = from < to ? from + " " + to : to + " " + from;
      if (from !== to && place.has(from) && place.has(to) && !seen.has(key)) { seen.add(key); links.push([place.get(from), place.get(to)]); }
    }
    const points = arranged(members, links);
    for (const [a, b] of links) draw("line", { x1: points[a].x, y1: points[a].y, x2: points[b].x, y2: points[b].y }, svg);
    const named = members.length <= 40;
    members.forEach((table, at) => {
      const p = points[at];
      bubble(p.x, p.y, p.r, null, tables[table], () => go({ table: tables[table] }), table === chosen);
      if (named || degree(table) > 12 || table === chosen)
        draw("text", { x: p.x, y: p.y - p.r - 4 }, svg).textContent = short(base(tables[table]), 28);
    });
  }
  function showComponent(place) {
    const members = components[place].slice().sort((a, b) => degree(b) - degree(a));
    drawTables(members.slice(0, DRAWN), null);
    make("h2", plural(members.length, "connected table"), list);
    if (members.length > DRAWN) make("p", "The " + DRAWN + " with most edges are drawn.", list);
    members.slice(0, LISTED).forEach((table) => {
      const row = make("div", null, list, "edge");
      button(tables[table], () => go({ table: tables[table] }), row);
      make("p", plural(degree(table), graph.noun), row).style.margin = "0";
    });
  }
  function showTable(table) {
    const own = edgesOf.get(table) || [];
    const around = [...new Set(own.flatMap((at) => [edges[at].from, edges[at].to]))].filter((each) => each !== table);
    around.sort((a, b) => degree(b) - degree(a));
    drawTables([table, ...around.slice(0, DRAWN - 1)], table);
    make("h2", tables[table], list);
    if (graph.link) {
      const link = make("a", "Open this table", make("p", null, list));
      link.href = graph.link + tables[table].split("/").map(encodeURIComponent).join("/");
      link.target = "_top";
    }
    if (!own.length) make("p", "No " + graph.noun + " from or to this table" + (graph.note ? " is among those shown." : "."), list);
    own.slice(0, LISTED).forEach((at) => {
      const edge = edges[at], other = edge.from === table ? edge.to : edge.from;
      const row = make("div", null, list, "edge");
      make("b", (edge.from === table ? edge.columns + " → " : edge.other_columns + " ← "), row);
      button(tables[other], () => go({ table: tables[other] }), row);
      make("b", " (" + (edge.from === table ? edge.other_columns : edge.columns) + ")", row);
      make("p", (graph.noun.startsWith("likely") ? "likely: " : "score: ") + Math.round(100 * edge.score) + "%", row).style.margin = "0";
      const reasons = make("ul", null, row);
      edge.reasons.forEach((reason) => make("li", graph.phrases[reason], reasons));
    });
  }

  function show() {
    const state = new URLSearchParams(location.hash.slice(1));
    svg.replaceChildren(); list.replaceChildren(); trail.replaceChildren();
    list.scrollTop = 0;
    const part = (text, action) => button(text, action, make("span", null, trail));
    button("All components", () => go({}), trail);
    const table = number.get(state.get("table")), component = componentOf.get(table) ?? Number(state.get("component") ?? NaN);
    if (components[component]) part("around " + base(hubOf(components[component])), () => go({ component: component }));
    if (table !== undefined) { part(base(tables[table]), () => {}); showTable(table); }
    else if (components[component]) showComponent(component);
    else showComponents();
  }
  input.addEventListener("input", () => {
    const text = input.value.trim().toLowerCase();
    if (!text) return show();
    const found = tables.filter((name) => name.toLowerCase().includes(text));
    list.replaceChildren();
    make("h2", plural(found.length, "table"), list);
    found.slice(0, LISTED).forEach((name) => button(name, () => { input.value = ""; go({ table: name }); }, make("div", null, list, "edge")));
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { const first = list.querySelector("button"); if (first) first.click(); }
  });
  addEventListener("hashchange", show);
  addEventListener("resize", show);
  show();
}
