// Draws every .eh-chart from its figure, in the colours of the theme.
//
// data-figure   the Plotly figure as JSON
// data-filter   a click filters by this name: the page goes to itself with name=value, page 1
// data-file     file name of the PNG or SVG that the toolbar's buttons give
"use strict";

(() => {
    const BUTTONS = [
        "zoom2d", "pan2d", "select2d", "lasso2d", "zoomIn2d", "zoomOut2d", "autoScale2d", "resetScale2d",
    ];

    const themed = (value) => {
        if (typeof value === "string") {
            return value.startsWith("var(--") ? resolved(value) : value;
        }
        if (Array.isArray(value)) {
            return value.map(themed);
        }
        if (value && typeof value === "object") {
            return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, themed(part)]));
        }
        return value;
    };

    // Numbers in bars stand upright, in a colour that is read on the bar's own.
    const legible = (trace) =>
        trace.type === "bar" ? { textangle: 0, insidetextfont: { color: "var(--eh-on-fill)" }, ...trace } : trace;

    const axis = (given) => ({
        ...given,
        fixedrange: true,
        gridcolor: resolved("var(--eh-chart-grid)"),
        zerolinecolor: resolved("var(--eh-chart-grid)"),
    });

    const layoutOf = (figure) => {
        const layout = {
            ...themed(figure.layout),
            font: { family: "Inter, sans-serif", size: 12, color: resolved("var(--eh-text)"), ...figure.layout.font },
            hoverlabel: { font: { family: "Inter, sans-serif" } },
            dragmode: false,
        };
        for (const name of Object.keys(layout)) {
            if (/^[xy]axis/.test(name)) {
                layout[name] = axis(layout[name]);
            }
        }
        return layout;
    };

    // On a narrow screen long names break into lines: of rows, or they leave no room for the bars, and of legends,
    // or they are cut.
    const NARROW_PX = 520;
    const broken = (name, letters) =>
        name.replace(new RegExp(`(.{1,${letters}})(\\s+|$)`, "g"), "$1<br>").replace(/<br>$/, "");
    const dataOf = (chart, figure) => figure.data.map(legible).map((trace) =>
        trace.name && chart.clientWidth < NARROW_PX ? { ...trace, name: broken(trace.name, 40) } : trace);
    const ROW_PX = 17;
    const addedRows = (data) => data.reduce((rows, { name, showlegend }) =>
        rows + (name && showlegend !== false ? broken(name, 40).split("<br>").length - 1 : 0), 0);
    const narrowed = (layout, data) => {
        const names = layout.yaxis?.ticktext;
        if (!names) {
            const added = layout.showlegend ? ROW_PX * addedRows(data) : 0;
            return { ...layout, height: layout.height && layout.height + added };
        }
        const ticktext = names.map((name) => broken(name, 18));
        const lines = Math.max(...ticktext.map((name) => name.split("<br>").length));
        const height = Math.max(layout.height || 0, 90 + names.length * (15 * lines + 8));
        return { ...layout, height, yaxis: { ...layout.yaxis, ticktext } };
    };

    // Plotly reads neither CSS variables nor oklch(): let the browser compute a plain colour.
    const cache = new Map();
    const resolved = (colour) => {
        const key = document.documentElement.className + colour;
        if (!cache.has(key)) {
            cache.set(key, computed(colour));
        }
        return cache.get(key);
    };

    const computed = (colour) => {
        const canvas = document.createElement("canvas").getContext("2d");
        const probe = document.body.appendChild(document.createElement("span"));
        probe.style.color = colour;
        canvas.fillStyle = getComputedStyle(probe).color;
        probe.remove();
        canvas.fillRect(0, 0, 1, 1);
        const [red, green, blue] = canvas.getImageData(0, 0, 1, 1).data;
        return `rgb(${red}, ${green}, ${blue})`;
    };

    const svgButton = (filename) => ({
        name: "Download plot as an SVG",
        icon: Plotly.Icons.disk,
        click: (chart) => Plotly.downloadImage(chart, { format: "svg", filename }),
    });

    const figureOf = (chart) => JSON.parse(chart.dataset.figure);

    const fitted = (chart, layout, data) => (chart.clientWidth < NARROW_PX ? narrowed(layout, data) : layout);

    // Takes a chart's room before it is drawn, or what is below moves from under the pointer.
    const reserve = (chart) => {
        const figure = figureOf(chart);
        const { height } = fitted(chart, figure.layout, figure.data);
        chart.style.minHeight = height ? `${height}px` : "";
    };

    const draw = async (chart) => {
        if (!window.Plotly) {
            return;
        }
        const figure = figureOf(chart);
        await Plotly.react(chart, themed(dataOf(chart, figure)), fitted(chart, layoutOf(figure), figure.data), {
            responsive: true,
            displaylogo: false,
            modeBarButtonsToRemove: BUTTONS,
            modeBarButtonsToAdd: [svgButton(chart.dataset.file || "chart")],
            toImageButtonOptions: { filename: chart.dataset.file || "chart", scale: 2 },
        });
        if (chart.dataset.filter && !chart.dataset.clickable) {
            chart.dataset.clickable = "1";
            chart.on("plotly_click", (event) => filterBy(chart.dataset.filter, event.points[0]));
        }
        if (!chart.dataset.drawn) {
            chart.on("plotly_hover", ({ points }) => showBand(chart, points[0].data.legendgroup));
            chart.on("plotly_unhover", () => showBand(chart, null));
        }
        chart.dataset.drawn = "1";
    };

    // The intervals of several lines would blend: only those of the line under the pointer are seen.
    const BAND = 0.2;
    const showBand = (chart, line) => {
        const hidden = figureOf(chart).data.map(({ meta, opacity }) => meta === "band" && !opacity);
        const bands = [...hidden.keys()].filter((place) => hidden[place]);
        if (bands.length) {
            const shades = bands.map((place) => (chart.data[place].legendgroup === line ? BAND : 0));
            Plotly.restyle(chart, { opacity: shades }, bands);
        }
    };

    const filterBy = (name, point) => {
        const url = new URL(window.location.href);
        const keys = [point.customdata].flat();
        url.searchParams.set(name, keys[0]);
        if (keys.length > 1) {
            url.searchParams.set("outcome", keys[1]);
        }
        url.searchParams.delete("page");
        if (document.getElementById("run-page")) url.searchParams.set("tab", "results");
        url.hash = "results";
        window.location.assign(url);
    };

    const onScreen = new IntersectionObserver((entries) => {
        for (const entry of entries.filter((one) => one.isIntersecting)) {
            onScreen.unobserve(entry.target);
            reserve(entry.target);
            draw(entry.target);
        }
    }, { rootMargin: "200px" });

    const watch = (root) => root.querySelectorAll(".eh-chart").forEach((chart) => {
        reserve(chart);
        onScreen.observe(chart);
    });

    const redraw = () => document.querySelectorAll(".eh-chart[data-drawn]").forEach(draw);

    watch(document);
    new MutationObserver(redraw).observe(document.documentElement, { attributeFilter: ["class"] });

    // Paper has its own width, which the page cannot ask for before it is laid out.
    const PAPER_PX = { ring: 310, other: 620 };
    const isRing = (chart) => chart.classList.contains("eh-chart--pie");
    const charts = () => document.querySelectorAll(".eh-chart");

    const sized = (chart, size) => chart.data && Plotly.relayout(chart, size);

    window.addEventListener("beforeprint", () => charts().forEach((chart) => {
        draw(chart);
        sized(chart, { autosize: false, width: isRing(chart) ? PAPER_PX.ring : PAPER_PX.other });
    }));
    window.addEventListener("afterprint", () => charts().forEach((chart) => {
        sized(chart, { autosize: true, width: null });
    }));
    document.addEventListener("htmx:load", (event) => watch(event.target));
})();
