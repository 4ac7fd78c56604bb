# A cask, filled in by packaging/manifests.py. *Untried here*: it has not run on macOS.
cask "cfbatch" do
  arch arm: "arm64", intel: "x86_64"

  version "@VERSION@"
  sha256 arm:   "@MACOS_ARM64@",
         intel: "@MACOS_X86_64@"

  url "https://github.com/cfbatch/CFBatch/releases/download/v#{version}/cfbatch-#{version}-macos-#{arch}.dmg"
  name "CF Batch"
  desc "Rank and embed texts with the Workers AI Batch API"
  homepage "https://github.com/cfbatch/CFBatch"

  depends_on macos: ">= :ventura"

  app "CF Batch.app"
  binary "#{appdir}/CF Batch.app/Contents/MacOS/cfbatch"

  # What the user has made goes only when asked for: brew uninstall --zap cfbatch
  zap trash: [
    "~/Library/Application Support/CF Batch",
    "~/Library/Preferences/CF Batch",
  ]
end
