// The colours that were chosen in the admin, for pages outside its shell.
"use strict";

(() => {
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    const apply = () => {
        const chosen = JSON.parse(localStorage.getItem("adminTheme") || '"auto"');
        const isDark = chosen === "dark" || (chosen === "auto" && system.matches);
        // The second name is Swagger's own.
        document.documentElement.classList.toggle("dark", isDark);
        document.documentElement.classList.toggle("dark-mode", isDark);
    };
    system.addEventListener("change", apply);
    apply();
})();
