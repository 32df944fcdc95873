import type { Language } from "../scene/percent";

/** What only the page drawn beforehand says, so that no script need carry it. */
export const still = {
  es: {
    note: "Sin JavaScript se ve el estado inicial: a quién mira *banco* en cada frase. Para elegir otra palabra o arrastrar los vectores hace falta JavaScript; para leer lo demás, no.",
    temperatures: "El {bank}, con tres temperaturas",
    order: "Con T pequeña, enfoca; con T grande, reparte. El orden no cambia nunca.",
    map: "Todas las miradas de la primera frase",
    compare: "La consulta de banco, una flecha; todas las claves, puntos.",
    values: "Los valores, cuadrados; lo que banco se lleva, un rombo.",
  },
  en: {
    note: "Without JavaScript you see the first state: whom *bank* looks at in each sentence. Choosing another word and dragging vectors need JavaScript; reading all the rest does not.",
    temperatures: "The {bank} at three temperatures",
    order: "A small T focuses, a large T spreads. The order never changes.",
    map: "All looks of the first sentence",
    compare: "The query of bank, an arrow; all keys, points.",
    values: "The values, squares; what bank takes with it, a diamond.",
  },
} satisfies Record<Language, Record<string, string>>;
