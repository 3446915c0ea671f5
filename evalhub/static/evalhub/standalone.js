// Draws the figures of a report that was saved as one file.
"use strict";

for (const chart of document.querySelectorAll("[data-figure]")) {
    const figure = JSON.parse(document.getElementById("figures").textContent)[chart.dataset.figure];
    if (figure.layout.height) {
        chart.style.minHeight = "0";
    }
    Plotly.newPlot(chart, figure.data, figure.layout, {
        responsive: true,
        displaylogo: false,
        modeBarButtonsToAdd: [{
            name: "Download plot as an SVG",
            icon: Plotly.Icons.disk,
            click: () => Plotly.downloadImage(chart, { format: "svg", filename: chart.dataset.figure }),
        }],
    });
}
